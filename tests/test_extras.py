"""The extras present and absent: each part that wants a package says in one line how it is installed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "heedmap"
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]

WANTED = {
    "notebook": {
        "page": "from heedmap.drawing.page.notebook import _widget_class\n_widget_class()",
    },
    "parquet": {
        "map": "from heedmap.drawing.export import save_map\n"
        "save_map(folder / 'a.parquet', np.ones((1, 1)), np.ones((1, 1), bool), ['a'], ['a'])",
        "lab": "from heedmap.lab import arrow\narrow.pyarrow()",
    },
    "ray": {
        "engine": "from heedmap.lab.ray_engine import _ray\n_ray()",
    },
}
"""For each extra what wants it; another way in is another line."""

PACKAGES = {"notebook": ["anywidget"], "parquet": ["pyarrow"], "ray": ["ray"]}

PROBE = """
import json, sys, tempfile
from pathlib import Path
import numpy as np
import heedmap
folder = Path(tempfile.mkdtemp())
said = {}
for name, (blocked, code) in json.loads(sys.argv[1]).items():
    kept = {one: sys.modules.pop(one) for one in list(sys.modules) if one.split(".")[0] in blocked}
    for one in blocked:
        sys.modules[one] = None
    try:
        exec(code)
        said[name] = "nothing"
    except heedmap.HeedmapError as error:
        said[name] = f"{type(error).__name__}: {error}"
    for one in blocked:
        del sys.modules[one]
    sys.modules.update(kept)
print(json.dumps(said))
"""


def test_every_extra_is_tried() -> None:
    assert set(WANTED) == set(EXTRAS) == set(PACKAGES)


def said_when(present: bool, python: Path = Path(sys.executable), folder: Path = ROOT) -> dict[str, str]:
    """What each part said, with the packages of its environment or without them, in one fresh process."""
    asked = {
        f"{extra} {what}": ([] if present else PACKAGES[extra], code)
        for extra, parts in WANTED.items()
        for what, code in parts.items()
    }
    ended = subprocess.run(
        [str(python), "-c", PROBE, json.dumps(asked)], capture_output=True, text=True, check=True, cwd=folder
    )
    found: dict[str, str] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_without_its_package_each_part_says_how_to_install_it() -> None:
    for name, said in said_when(present=False).items():
        extra = name.split()[0]
        assert said.startswith("MissingExtra: "), (name, said)
        assert re.search(rf"""pip install ['"]heedmap\[{extra}\]['"]""", said), (name, said)
        assert len(said.splitlines()) == 1


OTHERS_PACKAGES = "models/load.py"
"""A model may want any package: there the message is that of transformers."""


def test_every_such_message_names_an_extra_that_there_is() -> None:
    said = []
    for path in sorted(SOURCE.glob("**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = str(path.relative_to(SOURCE))
            if isinstance(node, ast.Raise) and name != OTHERS_PACKAGES and "MissingExtra(" in ast.unparse(node):
                said.append((name, re.findall(r"pip install \\?['\"]heedmap\[(\w+)\]", ast.unparse(node))))
    assert len(said) >= 6
    assert [(name, extras) for name, extras in said if len(extras) != 1 or extras[0] not in EXTRAS] == []


@pytest.mark.slow  # ray takes seconds to import
def test_with_its_package_no_part_asks_for_it() -> None:
    missing = [extra for extra, packages in PACKAGES.items() if any(find_spec(one) is None for one in packages)]
    for name, said in said_when(present=True).items():
        if name.split()[0] not in missing:
            assert "MissingExtra" not in said, (name, said)
