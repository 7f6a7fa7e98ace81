import heedmap as hm

model = hm.load("smollm2")  # or hm.wrap(module, tokenizer) for a model you have loaded
reading = model.read("The trophy did not fit in the suitcase because it was too big.")

row = reading.row("it", layer=16, head=3)
print(row)  # as bars; row.weights, row.tokens, row.plot(), row.to_json()
assert abs(row.sum - 1) < 1e-5

cells = reading.map(layer=16, head=3)  # nothing is computed until you look
assert cells[10, 11] == 0  # "it" cannot see "was"
print(cells[10, :5].round(3))

print(reading.explain("it", layer=16, head=3))
print(reading.next(5))
reading.save("trophy.safetensors")  # opens without the model: hm.Reading.open(...)

# Reduced during the pass: nothing else is kept.
print(model.stats("Any text, of any length."))

# Reads the calls that your own code makes.
with hm.watch(model.module, model.tokenizer) as watch:
    model.module(**model.tokenizer("Whatever runs in here", return_tensors="pt"))
print(watch.readings[0].row("here"))
