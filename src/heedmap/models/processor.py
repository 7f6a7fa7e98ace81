"""What prepares pictures and sounds for a model: the processor that lies beside its weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedmap.models.folder import PROCESSOR_FILES
from heedmap.models.progress import first_line
from heedmap.models.quiet import quiet_transformers


def load_processor(folder: Path) -> tuple[Any | None, str]:
    """The folder's processor, None for a model of text; and why there is none where there should be one.

    That it cannot be loaded is no error yet: the model may still read texts.
    """
    if not any((folder / name).is_file() for name in PROCESSOR_FILES):
        return None, ""
    from transformers import AutoProcessor

    try:
        with quiet_transformers():
            return AutoProcessor.from_pretrained(folder, local_files_only=True, trust_remote_code=False), ""
    except ImportError as error:
        return None, f"the processor in {folder} needs a package that is not here: {first_line(error)}"
    except Exception as error:  # damaged files fail in as many ways as there are processors
        return None, f"the processor in {folder} cannot be loaded ({first_line(error)}): repair it"


def is_processor(given: Any) -> bool:
    """Whether something prepares pictures or sounds, rather than text alone."""
    from transformers import ProcessorMixin
    from transformers.feature_extraction_utils import FeatureExtractionMixin
    from transformers.image_processing_base import ImageProcessingMixin

    return isinstance(given, ProcessorMixin | FeatureExtractionMixin | ImageProcessingMixin)


def tokenizer_of(processor: Any) -> Any | None:
    """The tokenizer in a processor; None for one of pictures alone."""
    return getattr(processor, "tokenizer", None)
