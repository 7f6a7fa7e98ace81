import heedmap as hm

model = hm.load("./my-vision-model")  # or of the Hub: "facebook/dinov2-small"
reading = model.read_picture("portrait.jpg")

look = reading.patches("class", layer=11)  # where the class token looks: the mean over heads
print(look)
for head in range(6):
    print(f"head {head}: {reading.patches('class', layer=11, head=head).share:.2f} of its look is on the picture")
