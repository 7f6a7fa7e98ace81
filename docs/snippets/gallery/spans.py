import heedmap as hm

with open("prompt.txt") as file:
    prompt = file.read()
question = {"question": (388, 457)}
shares = hm.load("smollm2").spans(prompt, question, split="### Document")
axes = shares.plot()
axes.figure.savefig("spans.png", dpi=150, bbox_inches="tight")
