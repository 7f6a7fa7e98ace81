import numpy as np
from PIL import Image
from transformers import ViTConfig, ViTImageProcessor, ViTModel

import heedmap as hm

# hm.load("google/vit-base-patch16-224") brings a trained one, with its processor, from the Hub. This one is random and
# tiny, so that it runs anywhere; what it prints means nothing.
module = ViTModel(ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
                            image_size=32, patch_size=8)).eval()  # fmt: skip
model = hm.wrap(module, ViTImageProcessor(size={"height": 32, "width": 32}), name="tiny")

picture = Image.fromarray(np.arange(32 * 32 * 3, dtype=np.uint8).reshape(32, 32, 3))
reading = model.read_picture(picture)
look = reading.patches("class", layer=1, head=0)  # where the class token looks
print(look.weights.shape, "patches; all together", look.share.__round__(2), "of its look")
look.plot().figure.savefig("look.png")
