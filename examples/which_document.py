"""For each document of a prompt: how much the model looks at it, and what becomes of the answer without it."""

from __future__ import annotations

import argparse

import heedmap as hm


def parts_of(prompt: str, marker: str) -> dict[str, tuple[int, int]]:
    """The parts that a marker begins, by their first line, with the characters that they take."""
    starts = [place for place in range(len(prompt)) if prompt.startswith(marker, place)]
    ends = [*starts[1:], len(prompt)]
    return {prompt[start:end].splitlines()[0]: (start, end) for start, end in zip(starts, ends, strict=True)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--prompt", default="prompt.txt", help="a text file; its last part is the question")
    parser.add_argument("--marker", default="### ", help="what each part begins with")
    parser.add_argument("--answer", default=" four", help="the right answer; its first token counts")
    options = parser.parse_args()
    with open(options.prompt, encoding="utf-8") as file:
        prompt = file.read().rstrip()
    model = hm.load(options.model)
    answer = model.tokenizer.encode(options.answer, add_special_tokens=False)[0]

    def odds(text: str) -> float:
        return float(model.read(text, layers=0).logits.softmax(-1)[answer])

    parts = parts_of(prompt, options.marker)
    times = {line.name: line.times for line in model.spans(prompt, parts).table()}
    print(f"with all parts the answer has odds of {odds(prompt):.3f}\n")
    print(f"{'part':<24}{'times an ordinary share':>24}{'the answer without it':>24}")
    for name, (start, end) in list(parts.items())[:-1]:
        print(f"{name:<24}{times[name]:>24.2f}{odds(prompt[:start] + prompt[end:]):>24.3f}")


if __name__ == "__main__":
    main()
