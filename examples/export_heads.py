"""Statistics of every head on many texts, as a CSV file: a line a head, each text counting once."""

from __future__ import annotations

import argparse
import csv

import heedmap as hm
from heedmap.reading.statistics_table import combine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--texts", default="texts.txt", help="a text a line")
    parser.add_argument("--output", default="heads.csv")
    options = parser.parse_args()
    with open(options.texts, encoding="utf-8") as file:
        texts = [line.strip() for line in file if line.strip()][:4]
    model = hm.load(options.model)
    table = combine([model.stats(text) for text in texts])
    with open(options.output, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(table.columns))
        writer.writeheader()
        writer.writerows(table.rows())
    print(f"{options.output}: {len(table)} heads, {len(table.columns)} columns, over {len(texts)} texts")
    for row in table.order("previous")[:3]:
        where = f"layer {table['layer'][row]:.0f}, head {table['head'][row]:.0f}"
        print(f"{where} gives {table['previous'][row]:.2f} to the token before")


if __name__ == "__main__":
    main()
