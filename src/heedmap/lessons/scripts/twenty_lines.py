"""Where does "it" look? With transformers alone."""

import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name = (sys.argv[1:] or ["HuggingFaceTB/SmolLM2-135M-Instruct"])[0]
text = "The trophy did not fit in the suitcase because it was too big."
layer, head = 16, 3
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32)
model.set_attn_implementation("eager")
ids = tokenizer(text, return_tensors="pt")["input_ids"]
with torch.no_grad():
    result = model(ids, output_attentions=True)
tokens = [token.strip() for token in tokenizer.batch_decode(ids.T)]
row = result.attentions[layer][0, head, tokens.index("it")].tolist()
for token, weight in zip(tokens, row, strict=True):
    print(f"{token:8}  {weight:.3f}  {'█' * round(40 * weight)}")
