import heedmap as hm

# A name, a folder, a Hub id, a .gguf file; or hm.wrap(module, tokenizer).
model = hm.load("smollm2")
reading = model.read("The trophy did not fit in the suitcase because it was too big.")

row = reading.row("it", layer=16, head=3)
print(f"“it” gives {row.share('trophy'):.3f} to “trophy”")
print(f"an ordinary share is {row.ordinary:.3f}")

cells = reading.map(layer=16, head=3)  # nothing is computed until you look
print(cells[10, :5].round(3), "and a word that comes later:", cells[10, 11])

odds = model.read("The capital of France is").next(3)
print([(one.text, round(one.probability, 3)) for one in odds.candidates])
