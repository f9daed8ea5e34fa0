"""ffnviz: watch a Transformer's feed-forward network work on a sentence.

In a notebook:

    import ffnviz
    model = ffnviz.load("relu")
    trace = model.trace("The cat sat on the [MASK].")
    trace.blocks[0].ffn.hidden  # (T, d_ff)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ffnviz.analysis.causal.ablate import ablate
    from ffnviz.analysis.causal.attribution import logit_attribution
    from ffnviz.analysis.causal.gradient import (
        GradientAttribution,
        gradient_attribution,
        loss_gradient,
    )
    from ffnviz.analysis.causal.heads import HeadAttribution, HeadMap, head_attribution, head_map
    from ffnviz.analysis.causal.measure import logit_difference
    from ffnviz.analysis.causal.noise import Noise
    from ffnviz.analysis.causal.patch import PatchMap, patch, patch_map
    from ffnviz.analysis.causal.paths import neuron_paths
    from ffnviz.analysis.causal.steer import contrast, steer
    from ffnviz.analysis.features.encoding import sae_features
    from ffnviz.analysis.features.replaced import sae_error
    from ffnviz.analysis.features.strongest import sae_examples
    from ffnviz.analysis.features.words import sae_words
    from ffnviz.analysis.neurons.description_file import read_descriptions, write_descriptions
    from ffnviz.analysis.neurons.descriptions import Description, Descriptions
    from ffnviz.analysis.neurons.index_file import read_index
    from ffnviz.analysis.vocabulary.writing import GeneratedToken, Generation, generate
    from ffnviz.export.notebook import show
    from ffnviz.export.view import view
    from ffnviz.models.edit import Edit
    from ffnviz.models.encoder.config import ConfigError, EncoderConfig
    from ffnviz.models.encoder.folder import ModelFolderError
    from ffnviz.models.encoder.model import Model
    from ffnviz.models.external.in_memory import from_module
    from ffnviz.models.external.network import ExternalNetwork
    from ffnviz.models.external.refusal import CannotOpenError
    from ffnviz.models.network import NotForThisNetwork
    from ffnviz.models.registry import load
    from ffnviz.models.sae import Sae, SaeError
    from ffnviz.models.sae_folder import read_sae
    from ffnviz.models.trace import Trace

__version__ = "0.1.0"
__all__ = [
    "CannotOpenError", "ConfigError", "Description", "Descriptions", "Edit", "EncoderConfig",
    "ExternalNetwork", "GeneratedToken", "Generation", "GradientAttribution", "HeadAttribution",
    "HeadMap", "Model", "ModelFolderError", "Noise", "NotForThisNetwork", "PatchMap", "Sae",
    "SaeError", "Trace", "ablate", "contrast", "from_module", "generate", "gradient_attribution",
    "head_attribution", "head_map", "load", "logit_attribution", "logit_difference",
    "loss_gradient", "neuron_paths", "patch", "patch_map", "read_descriptions", "read_index",
    "read_sae", "sae_error", "sae_examples", "sae_features", "sae_words", "show", "steer", "view",
    "write_descriptions",
]  # fmt: skip

_MODULES = {
    "CannotOpenError": "models.external.refusal",
    "ConfigError": "models.encoder.config",
    "Description": "analysis.neurons.descriptions",
    "Descriptions": "analysis.neurons.descriptions",
    "Edit": "models.edit",
    "EncoderConfig": "models.encoder.config",
    "ExternalNetwork": "models.external.network",
    "GeneratedToken": "analysis.vocabulary.writing",
    "Generation": "analysis.vocabulary.writing",
    "GradientAttribution": "analysis.causal.gradient",
    "HeadAttribution": "analysis.causal.heads",
    "HeadMap": "analysis.causal.heads",
    "Model": "models.encoder.model",
    "ModelFolderError": "models.encoder.folder",
    "Noise": "analysis.causal.noise",
    "NotForThisNetwork": "models.network",
    "PatchMap": "analysis.causal.patch",
    "Sae": "models.sae",
    "SaeError": "models.sae",
    "Trace": "models.trace",
    "ablate": "analysis.causal.ablate",
    "contrast": "analysis.causal.steer",
    "from_module": "models.external.in_memory",
    "generate": "analysis.vocabulary.writing",
    "gradient_attribution": "analysis.causal.gradient",
    "head_attribution": "analysis.causal.heads",
    "head_map": "analysis.causal.heads",
    "load": "models.registry",
    "logit_attribution": "analysis.causal.attribution",
    "logit_difference": "analysis.causal.measure",
    "loss_gradient": "analysis.causal.gradient",
    "neuron_paths": "analysis.causal.paths",
    "patch": "analysis.causal.patch",
    "patch_map": "analysis.causal.patch",
    "read_descriptions": "analysis.neurons.description_file",
    "read_index": "analysis.neurons.index_file",
    "read_sae": "models.sae_folder",
    "sae_error": "analysis.features.replaced",
    "sae_examples": "analysis.features.strongest",
    "sae_features": "analysis.features.encoding",
    "sae_words": "analysis.features.words",
    "show": "export.notebook",
    "steer": "analysis.causal.steer",
    "view": "export.view",
    "write_descriptions": "analysis.neurons.description_file",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: PyTorch takes seconds.

    The command line, which imports this package too, must answer Ctrl-C from its first moment.
    """
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
