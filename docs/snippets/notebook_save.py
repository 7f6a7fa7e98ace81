import heedmap as hm

reading = hm.load("smollm2").read("The trophy did not fit in the suitcase because it was too big.", layers=[15, 16])
reading.save("trophy.safetensors")

again = hm.Reading.open("trophy.safetensors")  # needs no model
print(again)
page = again.page("trophy.html", word="it", layer=16, head=3)  # the viewer as one file, for somebody without Python
print(f"{len(page) / 1e6:.1f} MB")
