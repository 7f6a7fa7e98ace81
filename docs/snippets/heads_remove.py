import heedmap as hm
from heedmap.reading.edits import head_means, remove

model = hm.load("smollm2")
text = "When John and Mary went to the shops, John gave the bag to"
others = [
    "The cat sat on the mat.",
    "It rained all day, and the lake was grey.",
    "Anna wrote to Paul.",
]
means = head_means(model, others)  # what a removed head gives instead


def gap(model: hm.Model) -> float:
    """How much likelier “Mary” is than “John”, in nats."""
    logits = model.read(text, layers=0).logits
    mary, john = (model.tokenizer.encode(name)[0] for name in (" Mary", " John"))
    return float(logits[mary] - logits[john])


whole = gap(model)
print(f"with every head: {whole:+.2f}")
lost = {head: whole - gap(model.edited(remove(16, head, means))) for head in range(9)}
for head, nats in sorted(lost.items(), key=lambda one: -abs(one[1]))[:3]:
    print(f"without layer 16, head {head}: {whole - nats:+.2f}")
