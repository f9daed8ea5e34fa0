"""ffnviz: watch a Transformer's feed-forward network work on a sentence.

In a notebook:

    import ffnviz
    model = ffnviz.load("relu")
    trace = model.trace("The cat sat on the [MASK].")
    trace.blocks[0].ffn.hidden  # (T, d_ff)
"""

from ffnviz.model.config import ConfigError, EncoderConfig
from ffnviz.model.edit import Edit
from ffnviz.model.folder import ModelFolderError
from ffnviz.model.model import Model, load
from ffnviz.model.trace import Trace

__version__ = "0.1.0"
__all__ = ["ConfigError", "Edit", "EncoderConfig", "Model", "ModelFolderError", "Trace", "load"]
