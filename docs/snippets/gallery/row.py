import heedmap as hm

text = "The trophy did not fit in the suitcase because it was too big."
reading = hm.load("smollm2").read(text, layers=16)
axes = reading.row("it", layer=16, head=3).plot()
axes.figure.savefig("row.png", dpi=150, bbox_inches="tight")
