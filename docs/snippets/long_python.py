import heedmap as hm

model = hm.load("smollm2")
with open("letter.txt") as file:
    text = file.read()

cost = model.cost(8_000, layers=[16])  # known before anything runs; print(cost) also says how long it takes here
print(f"{cost.kept / 2**20:.0f} MiB are kept of {cost.tokens:,} tokens, {cost.attention_operations:.1e} operations")

reading = model.read(text, layers=[16])  # keeps query, key and one number a row of one layer
cells = reading.map(layer=16, head=3)
print(cells.shape, "a cell:", round(cells[100, 99], 4))  # a row or a cell: nothing else is computed
picture = cells.pool(4, 4)  # the mean over blocks, by tiles; the whole map is never made
print(picture.weights.round(3))

table = model.stats(text, only=["first", "distance"])  # all heads, reduced during the pass; keeps no layer
row = table.order("distance")[0]
print(f"layer {table['layer'][row]:.0f}, head {table['head'][row]:.0f} looks back {table['distance'][row]:.0f} tokens")
