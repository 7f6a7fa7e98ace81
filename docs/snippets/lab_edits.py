import heedmap
from heedmap.reading.edits import forbid, head_means, remove

model = heedmap.load("smollm2")
text = "The trophy did not fit in the suitcase because it was too big."
means = head_means(model, ["The cat sat on the mat.", "It rained all day."])  # .save(path), HeadMeans.open(path)

reading = model.read(text, edit=remove(16, 3, means) + forbid("it", "trophy", layers=[12], heads=[4]))
assert [edit["edit"] for edit in reading.model["edits"]] == ["remove head", "forbid look"]
assert reading.row("it", 12, 4).weights[1] == 0
stats = model.edited(remove(16, 3, means)).stats(
    text, only=["first"]
)  # everything that an edited model reads is edited
