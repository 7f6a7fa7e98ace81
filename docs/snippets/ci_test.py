import heedmap as hm

model = hm.load("./my-model")


def test_it_is_causal() -> None:
    """A mask that was lost in a change of the modelling code shows here."""
    weights = model.read("A few words that say nothing.").attentions(layers=[0, 29])
    assert all(layer[..., 0, 1:].max() == 0 for layer in weights)


def test_the_sink_is_where_it_was() -> None:
    """A change of template or of special tokens moves the share on the first token."""
    table = model.stats("The cat sat on the mat because it was tired.", only=["first"])
    assert 0.5 < table["first"].mean() < 0.7


test_it_is_causal()
test_the_sink_is_where_it_was()
