import heedmap as hm

text = "The trophy did not fit in the suitcase because it was too big."
reading = hm.load("smollm2").read(text, layers=[15, 16])
reading.save("trophy.safetensors")

again = hm.Reading.open("trophy.safetensors")  # needs no model
print(again)

# The viewer as one file, for somebody without Python.
page = again.page("trophy.html", word="it", layer=16, head=3)
print(f"{len(page) / 1e6:.1f} MB")
