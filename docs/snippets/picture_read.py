import heedmap as hm

model = hm.load("./my-vision-model")  # or of the Hub: "facebook/dinov2-small"
reading = model.read_picture("portrait.jpg")

# Where the class token looks: the mean over heads.
print(reading.patches("class", layer=11))

for head in range(6):
    look = reading.patches("class", layer=11, head=head)
    print(f"head {head}: {look.share:.2f} of its look is on the picture")
