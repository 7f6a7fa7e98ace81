import heedmap
from heedmap.reading.edits import forbid, head_means, remove

model = heedmap.load("smollm2")
text = "The trophy did not fit in the suitcase because it was too big."
others = ["The cat sat on the mat.", "It rained all day."]
means = head_means(model, others)  # .save(path), HeadMeans.open(path)

edit = remove(16, 3, means) + forbid("it", "trophy", layers=[12], heads=[4])
reading = model.read(text, edit=edit)
kinds = [one["edit"] for one in reading.model["edits"]]
assert kinds == ["remove head", "forbid look"]
assert reading.row("it", 12, 4).weights[1] == 0

# Everything that an edited model reads is edited.
stats = model.edited(remove(16, 3, means)).stats(text, only=["first"])
