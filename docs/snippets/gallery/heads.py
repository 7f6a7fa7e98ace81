import matplotlib.pyplot as plt

import heedmap as hm

with open("letter.txt") as file:
    table = hm.load("smollm2").stats(file.read(), only=["first", "previous"])
figure, both = plt.subplots(1, 2, figsize=(8, 7), sharey=True)
titles = {"first": "on the first token", "previous": "on the one before"}
for axes, (column, title) in zip(both, titles.items(), strict=True):
    shares = table[column].reshape(30, 9)  # one row a layer, one column a head
    image = axes.imshow(shares, vmin=0, vmax=1, aspect="auto", cmap="Blues")
    axes.set(title=f"mean share {title}", xlabel="head", xticks=range(9))
    axes.invert_yaxis()
both[0].set(ylabel="layer", yticks=range(0, 30, 5))
figure.colorbar(image, ax=both)
figure.savefig("heads.png", dpi=150, bbox_inches="tight")
