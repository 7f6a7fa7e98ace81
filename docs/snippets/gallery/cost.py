import matplotlib.pyplot as plt

from heedmap.lab.cost_predict import predict
from heedmap.lab.cost_shape import shape_of
from heedmap.models.configuration import find_configuration

lengths = [500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000]
shape = shape_of(find_configuration("smollm2"))
costs = [predict(shape, tokens, dtype="float32") for tokens in lengths]
figure, axes = plt.subplots(figsize=(6.5, 4))
between = [cost.attention for cost in costs]
axes.loglog(lengths, between, "o-", color="#2f6ebb", label="between tokens")
rest = [cost.projections + cost.feed_forward for cost in costs]
axes.loglog(lengths, rest, "s-", color="#8a8578", label="everything else")
axes.set(xlabel="tokens in the prompt", ylabel="operations")
axes.set_title("What a prompt costs smollm2 to read")
axes.legend(frameon=False)
figure.savefig("cost.png", dpi=150, bbox_inches="tight")
