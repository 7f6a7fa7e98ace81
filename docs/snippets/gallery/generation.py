import matplotlib.pyplot as plt
import numpy as np

import heedmap as hm

generation = hm.load("smollm2").generate("The capital of France is", 8, layers=12)
rows = [generation.row(step, layer=12) for step in range(8)]
shares = np.full((8, len(generation.tokens)), np.nan)
for step, row in enumerate(rows):
    shares[step, : len(row.weights)] = np.where(row.allowed, row.weights, np.nan)
labels = [token.text.strip() or "␣" for token in generation.tokens]
figure, axes = plt.subplots(figsize=(7, 4.5))
axes.imshow(shares, vmin=0, vmax=0.5, cmap="Blues", aspect="auto")
axes.set_xticks(range(len(labels)), labels, rotation=90)
axes.set_yticks(range(8), [f"chose “{labels[row.chooses]}”" for row in rows])
axes.set_title("Where smollm2 looked for each word it wrote\n(layer 12, mean of heads)")
figure.savefig("generation.png", dpi=150, bbox_inches="tight")
