"""Where does "it" look? One row of one head of a real model, with transformers alone."""

import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

name = sys.argv[1] if len(sys.argv) > 1 else "HuggingFaceTB/SmolLM2-135M-Instruct"
text = "The trophy did not fit in the suitcase because it was too big."
layer, head = 16, 3
tokenizer = AutoTokenizer.from_pretrained(name)
model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="eager", dtype=torch.float32)
encoded = tokenizer(text, return_tensors="pt")
with torch.no_grad():
    result = model(**encoded, output_attentions=True)
tokens = [token.strip() for token in tokenizer.batch_decode(encoded["input_ids"].T)]
weights = result.attentions[layer][0, head]  # a row for each token that looks
asking = tokens.index("it")
for token, weight in zip(tokens[: asking + 1], weights[asking].tolist(), strict=False):
    print(f"{token:8}  {weight:.3f}  {'█' * round(40 * weight)}")
