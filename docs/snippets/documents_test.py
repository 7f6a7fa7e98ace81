import heedmap as hm

with open("prompt.txt") as file:
    prompt = file.read().rstrip()
parts = prompt.split("### ")
model = hm.load("smollm2")
answer = model.tokenizer.encode(" four")[0]


def odds(text: str) -> float:
    """How likely “four” is as the next token."""
    return float(model.read(text, layers=0).logits.softmax(-1)[answer])


print(f"all documents: {odds(prompt):.3f}")
for number in (1, 2, 3):
    without = "### ".join(part for place, part in enumerate(parts) if place != number)
    print(f"without {parts[number].splitlines()[0]}: {odds(without):.3f}")
