import heedmap as hm

with open("letter.txt") as file:
    text = file.read()
model = hm.load("smollm2")
table = model.stats(text, layers=[16], only=["entropy"], positions=True)
axes = table.plot("entropy", layer=16, head=3)
axes.figure.savefig("curve.png", dpi=150, bbox_inches="tight")
