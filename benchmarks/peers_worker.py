"""Runs in the other tools' own environment: each head's mean share on the first token, by one tool, timed.

It imports nothing of Heedmap. Usage: python peers_worker.py METHOD MODEL_FOLDER IDS_FILE REPEATS
"""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def transformer_lens(folder: str, ids: list[int]) -> Callable[[], Any]:
    """TransformerLens: a hook on every layer's attention pattern, reduced at once."""
    import torch
    from transformer_lens.model_bridge import TransformerBridge

    model = TransformerBridge.boot_transformers(folder, device="cpu")
    tokens = torch.tensor([ids])

    def run() -> list[Any]:
        shares: list[Any] = []

        def reduce(pattern: Any, hook: Any) -> None:
            del hook
            shares.append(pattern[0, :, 1:, 0].mean(-1))

        hooks = [(lambda name: name.endswith("hook_pattern"), reduce)]
        with torch.no_grad():
            model.run_with_hooks(tokens, return_type=None, fwd_hooks=hooks)
        return shares

    return run


def nnsight(folder: str, ids: list[int]) -> Callable[[], Any]:
    """nnsight: a trace over eager attention that reduces each layer's weights."""
    import torch
    from nnsight import LanguageModel

    model = LanguageModel(folder, attn_implementation="eager", device_map="cpu", dispatch=True)
    tokens = torch.tensor([ids])

    def run() -> list[Any]:
        shares: list[Any] = []
        with torch.no_grad(), model.trace(tokens):
            for layer in model.model.layers:
                shares.append(layer.self_attn.output[1][0, :, 1:, 0].mean(-1).save())
        return shares

    return run


def attnread(folder: str, ids: list[int]) -> Callable[[], Any]:
    """attnread: recovers every head's map from the fast model by running it again and again."""
    import torch
    from attnread import extract_attention
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="sdpa").eval()
    inputs = {"input_ids": torch.tensor([ids])}
    heads = model.config.num_attention_heads

    def run() -> list[Any]:
        with torch.no_grad():
            maps = list(extract_attention(model, inputs).values())
        shares = torch.stack([weights[0, 1:, 0].mean(-1) for weights in maps])
        return list(shares.split(heads))

    return run


METHODS = {"transformer_lens": transformer_lens, "nnsight": nnsight, "attnread": attnread}


def main() -> None:
    """Time one tool, after one run that warms it."""
    method, folder, ids_file, repeats = sys.argv[1:]
    task = METHODS[method](folder, json.loads(Path(ids_file).read_text()))
    task()
    seconds = []
    for _ in range(int(repeats)):
        start = time.perf_counter()
        answer = task()
        seconds.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    shares = [layer.float().tolist() for layer in answer]
    print(json.dumps({"seconds": statistics.median(seconds), "peak": peak, "shares": shares}))


if __name__ == "__main__":
    main()
