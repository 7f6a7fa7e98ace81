import heedmap as hm

reading = hm.load("./my-vision-model").read_picture("portrait.jpg")
axes = reading.patches("class", layer=11).plot()
axes.figure.savefig("picture.png", dpi=110, bbox_inches="tight")
