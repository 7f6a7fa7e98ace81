from transformers import AutoModelForCausalLM, AutoTokenizer

import heedmap as hm

module = AutoModelForCausalLM.from_pretrained("./my-model")
tokenizer = AutoTokenizer.from_pretrained("./my-model")

model = hm.wrap(module, tokenizer, name="step 1000")  # nothing in the module is changed
print(model)
row = model.read("The key to the cabinets is").row("is", layer=16)
print(f"“is” gives {row.share('cabinets'):.3f} to “cabinets”")
