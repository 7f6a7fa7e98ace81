"""A run's process: what it says on stdout when it is finished, stopped, refused or broken inside."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from heedmap.errors import TooLarge
from heedmap.server import lab_process


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (None, 0, {"finished": True}),
        (KeyboardInterrupt(), 130, {"stopped": True}),
        (TooLarge("it does not fit"), 1, {"failed": {"kind": "TooLarge", "message": "it does not fit"}}),
        (
            ZeroDivisionError("division by zero"),
            1,
            {
                "failed": {
                    "kind": "InternalError",
                    "message": "this failed inside Heedmap (ZeroDivisionError: division by zero); "
                    "what was measured is kept",
                }
            },
        ),
    ],
    ids=["finished", "interrupted", "refused", "broken"],
)
def test_the_last_line_says_how_it_ended(
    raised: BaseException | None,
    code: int,
    said: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    def run(asked: dict[str, Any], folder: Path, progress: Any) -> None:
        assert (asked, folder) == ({"name": "causal"}, tmp_path)
        progress(1, 2, "items")
        if raised is not None:
            raise raised

    monkeypatch.setattr(lab_process, "_run", run)
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"name": "causal"}'))
    assert lab_process.main(tmp_path) == code
    first, *rest = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {"progress": [0, 0, "loading the model"]}
    assert rest == [{"progress": [1, 2, "items"]}, said]
