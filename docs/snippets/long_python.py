import heedmap as hm

model = hm.load("smollm2")
with open("letter.txt") as file:
    text = file.read()

cost = model.cost(8_000, layers=[16])  # known before anything runs
print(f"{cost.kept / 2**20:.0f} MiB are kept of {cost.tokens:,} tokens")

# Keeps query, key and one number a row, of one layer.
reading = model.read(text, layers=[16])
cells = reading.map(layer=16, head=3)
print(cells.shape, "a cell:", round(cells[100, 99], 4))  # nothing else is computed

# The mean over blocks, by tiles: the whole map is never made.
print(cells.pool(4, 4).weights.round(3))

# All heads, reduced during the pass; no layer is kept.
table = model.stats(text, only=["first", "distance"])
row = table.order("distance")[0]
where = f"layer {table['layer'][row]:.0f}, head {table['head'][row]:.0f}"
print(f"{where} looks back {table['distance'][row]:.0f} tokens")
