import matplotlib.pyplot as plt
import numpy as np

import heedmap as hm

text = "The trophy did not fit in the suitcase because it was too big."
reading = hm.load("smollm2").read(text)
row = reading.value_norms("it", layer=16, head=3)
labels = [f"{token.index} {token.text.strip()}" for token in row.tokens][:11]
place = np.arange(11)
figure, axes = plt.subplots(figsize=(7, 4))
axes.barh(place - 0.2, row.weights[:11], height=0.38, color="#2f6ebb", label="weight")
added = (row.products / row.products.sum())[:11]
axes.barh(place + 0.2, added, height=0.38, color="#c9b27c", label="what it adds")
axes.set_yticks(place, labels)
axes.set(xlabel="share", title="“it” in layer 16, head 3")
axes.invert_yaxis()
axes.legend(frameon=False)
figure.savefig("norms.png", dpi=150, bbox_inches="tight")
