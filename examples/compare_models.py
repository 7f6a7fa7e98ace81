"""The heads that differ most between two models of one shape and tokenizer, on your own texts.

By default: what becomes of the others when a head is taken away. After a fine-tuning: --after ./my-model
"""

from __future__ import annotations

import argparse

import numpy as np

import heedmap as hm
from heedmap.reading.edits import remove
from heedmap.reading.statistics_table import combine

COLUMNS = ("first", "previous", "entropy", "distance")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", default="smollm2")
    parser.add_argument("--after", help="without it, --before with a head replaced by zero")
    parser.add_argument("--remove", nargs=2, type=int, default=(11, 1), metavar=("LAYER", "HEAD"))
    parser.add_argument("--texts", default="texts.txt", help="a text a line")
    options = parser.parse_args()
    with open(options.texts, encoding="utf-8") as file:
        texts = [line.strip() for line in file if line.strip()][:4]
    first = hm.load(options.before)
    second = hm.load(options.after) if options.after else first.edited(remove(*options.remove, zero=True))
    before, after = (combine([model.stats(text, only=COLUMNS) for text in texts]) for model in (first, second))
    print(f"{len(texts)} texts, {len(before)} heads; which differ beyond chance is what `heedmap lab compare` tests\n")
    for column in COLUMNS:
        row = int(np.abs(after[column] - before[column]).argmax())
        where = f"layer {before['layer'][row]:.0f}, head {before['head'][row]:.0f}"
        print(f"{column:<9} most in {where}: {before[column][row]:.3f} before, {after[column][row]:.3f} after")


if __name__ == "__main__":
    main()
