import numpy as np

import heedmap as hm

ends = ["The trophy did not fit in the suitcase because it was too big.",
        "The trophy did not fit in the suitcase because it was too small."]  # fmt: skip

for name in ("smollm2", "minilm"):
    model = hm.load(name)
    one, other = (model.read(text) for text in ends)
    part = next(i for i, (a, b) in enumerate(zip(one.tokens, other.tokens, strict=True)) if a.text != b.text)
    before = max(np.abs(one.map(n)[:part, :part] - other.map(n)[:part, :part]).max() for n in range(len(one.layers)))
    print(f"{name}: weights before token {part} differ by {'nothing at all' if before == 0 else f'up to {before:.2f}'}")
