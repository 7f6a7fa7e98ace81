import heedmap as hm

reading = hm.load("smollm2").read("The trophy did not fit in the suitcase because it was too big.")
reading
