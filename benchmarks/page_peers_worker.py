"""Runs in the environment of the other tools: writes the maps of all heads as each tool's own page.

`python page_peers_worker.py weights.npy labels.json folder`: weights are [layer, head, query, key].
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import attnview
import numpy as np
import torch
from bertviz import head_view


def main() -> None:
    """Write both pages; print the seconds of each as JSON."""
    weights = np.load(sys.argv[1])
    labels: list[str] = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    folder = Path(sys.argv[3])
    begun = time.perf_counter()
    shown: Any = head_view(tuple(torch.from_numpy(one)[None] for one in weights), labels, html_action="return")
    (folder / "bertviz.html").write_text(f"<!doctype html><meta charset=utf-8>{shown.data}", encoding="utf-8")
    seconds = {"bertviz": time.perf_counter() - begun}
    begun = time.perf_counter()
    cache = {f"blocks.{layer}.attn.hook_pattern": one[None].tolist() for layer, one in enumerate(weights)}
    attnview.export_cache(cache, folder / "attnview.html", tokens=labels)
    seconds["attnview"] = time.perf_counter() - begun
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
