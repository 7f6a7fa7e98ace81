import numpy as np

import heedmap as hm

big = "The trophy did not fit in the suitcase because it was too big."
small = big.replace("big", "small")

for name in ("smollm2", "minilm"):
    model = hm.load(name)
    one, other = model.read(big), model.read(small)
    pairs = zip(one.tokens, other.tokens, strict=True)
    part = next(place for place, (a, b) in enumerate(pairs) if a.text != b.text)
    before = 0.0
    for layer in range(len(one.layers)):
        maps = (reading.map(layer)[:part, :part] for reading in (one, other))
        before = max(before, np.abs(np.subtract(*maps)).max())
    differ = "nothing at all" if before == 0 else f"up to {before:.2f}"
    print(f"{name}: weights before token {part} differ by {differ}")
