import heedmap as hm

with open("prompt.txt") as file:
    shares = hm.load("smollm2").spans(file.read(), {"question": (388, 457)}, split="### Document")
axes = shares.plot()
axes.figure.savefig("spans.png", dpi=150, bbox_inches="tight")
