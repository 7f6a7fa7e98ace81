import heedmap as hm

text = "The trophy did not fit in the suitcase because it was too big."
reading = hm.load("smollm2").read(text)
reading
