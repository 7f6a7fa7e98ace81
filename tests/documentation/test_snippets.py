"""Every snippet of the documentation is a file that runs and shows what is printed beside it; none is anything else."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from docs.build import IMAGES, all_pages, draw_gallery, gallery, shown_in, snippet_output, snippets
from docs.marked import files, with_files, without_parts
from docs.running import EXAMPLES, SNIPPETS, working_folder
from docs.vision import NotThere, files_for
from matplotlib.image import imread

from heedmap.cli.main import heedmap
from tests.printed import alike

SLOW = {
    "causal_lab", "ci_claims", "cluster_merge", "compare_models", "export_heads", "heads_lab", "heads_remove",
    "heads_roles", "lab_reference", "which_document", "curve", "generation", "long", "picture", "picture_read",
    "picture_weights",
}  # fmt: skip
"""What takes seconds: whole experiments and long texts."""

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^(?:\$ | {4,}| *- run: )(heedmap (?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE)


def marked(paths: list[Path]) -> list[object]:
    """Files as parameters, the slow ones marked so."""
    marks = {True: [pytest.mark.slow], False: []}
    return [pytest.param(path, id=path.name, marks=marks[path.stem in SLOW]) for path in paths]


def require_files_for(path: Path) -> None:
    """Skip where the weights that a snippet needs cannot be fetched."""
    try:
        files_for(path.stem)
    except NotThere as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("path", marked(snippets()))
def test_snippets_show_what_they_print(path: Path) -> None:
    require_files_for(path)
    shown = shown_in(path)
    committed = shown.read_text(encoding="utf-8") if shown.exists() else ""
    printed = snippet_output(path)
    assert alike(printed, committed), f"stale: run `make docs`. It prints now:\n{printed}"


@pytest.mark.parametrize("script", marked(gallery()))
def test_pictures_of_the_gallery_are_drawn_by_what_stands_below_them(script: Path, tmp_path: Path) -> None:
    require_files_for(script)
    draw_gallery(script, tmp_path / "again.png")
    again, committed = imread(tmp_path / "again.png"), imread(IMAGES / "gallery" / f"{script.stem}.png")
    assert again.shape == committed.shape, "stale: run `make docs`"
    # Another build of the font library may move an edge by a shade; another number moves whole cells.
    assert np.abs(again - committed).mean() < 2e-3, "stale: run `make docs`"


def test_every_snippet_and_every_picture_is_shown_somewhere() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in all_pages())
    there = {path for path in SNIPPETS.glob("**/*") if path.suffix in (".py", ".console", ".txt", ".sh", ".yml")}
    hidden = {path.name for path in there - set(files(pages))}
    assert hidden == {"letter.txt", "texts.txt", "readme_python.txt"}  # what is read, and a program's long output
    assert all(f"images/gallery/{script.stem}.png" in pages for script in gallery())
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"({path.name})" in listed for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb"))


@pytest.mark.parametrize("path", all_pages(), ids=lambda path: path.name)
def test_pages_hold_no_program_that_is_not_a_file(path: Path) -> None:
    for kind, body in FENCED.findall(without_parts(path.read_text(encoding="utf-8"))):
        if kind in ("python", "console", "bash", "yaml"):
            is_doctest = ">>>" in body and path.name == "arithmetic.md"  # run by tests/arithmetic/test_room.py
            assert is_doctest, f"{path.name} shows what is no file: {body[:60]}"


@pytest.mark.parametrize("path", all_pages(), ids=lambda path: path.name)
def test_pages_show_their_files_as_they_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert with_files(text) == text, "stale: run `make docs`"


def parse(line: str) -> None:
    """Parse a command as the command line would, without running it."""
    command: click.Command = heedmap
    context: click.Context | None = None
    arguments = shlex.split(line, comments=True)[1:]
    while True:
        context = command.make_context(command.name, arguments, parent=context)
        if not isinstance(command, click.Group) or not context._protected_args:
            return
        _, found, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None
        command = found


@pytest.mark.parametrize(
    "path", [*all_pages(), SNIPPETS / "cluster.sh", SNIPPETS / "ci.yml"], ids=lambda path: path.name
)
def test_commands_that_are_shown_can_be_parsed(path: Path) -> None:
    """Options that were renamed, and commands that are gone, show here; nothing is run."""
    for line in COMMAND.findall(path.read_text(encoding="utf-8")):
        plain = re.sub(r"\s+#.*| \|.*| 2>&1", "", line.replace("\\\n", " ")).replace("$SLURM_ARRAY_TASK_ID", "1")
        try:
            parse(plain)
        except (click.exceptions.Exit, click.exceptions.NoArgsIsHelpError):
            continue  # a help page
        except click.BadParameter as error:
            assert "does not exist" in error.message, f"{path.name}: {plain}: {error.message}"  # noqa: PT017


@pytest.mark.slow
@pytest.mark.timeout(900)  # six processes that each load a model
def test_the_job_array_runs_under_a_real_shell() -> None:
    """All four tasks, the second one twice as after a requeue; then merged as the page says."""
    place = os.environ["PATH"]
    with working_folder() as folder:
        for task in ("1", "2", "2", "3", "4"):
            variables = {"PATH": f"{Path(sys.executable).parent}:{place}", "SLURM_ARRAY_TASK_ID": task}
            script = [str(SNIPPETS / "cluster.sh")]
            done = subprocess.run(
                ["bash", *script], env={**os.environ, **variables}, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
        shards = [f"shard-{number}" for number in range(1, 5)]
        merged = [str(Path(sys.executable).parent / "heedmap"), "lab", "merge", *shards, "-o", "report"]
        done = subprocess.run(merged, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (folder / "report" / "report.json").exists()
