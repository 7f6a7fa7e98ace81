import torch
from transformers import LlamaConfig, LlamaForCausalLM

import heedmap as hm

torch.manual_seed(0)
heads = {"num_attention_heads": 2, "num_key_value_heads": 2}
sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
module = LlamaForCausalLM(LlamaConfig(vocab_size=40, **heads, **sizes))
optimiser = torch.optim.AdamW(module.parameters(), lr=1e-2)

for step in range(121):
    ids = torch.randint(40, (64, 6))
    ids[:, 5] = ids[:, 1]  # the last token repeats the second
    with hm.watch(module) as watched:  # the step itself is heard, and not changed
        logits = module(input_ids=ids).logits
    loss = torch.nn.functional.cross_entropy(logits[:, 4], ids[:, 5])
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 40 == 0:
        weights = watched.forwards[0].weights(layer=0)  # [text, query, key]
        share = weights[:, 4, 1].mean()
        print(f"step {step:3}: loss {loss.item():.1f}, look at the second {share:.2f}")
