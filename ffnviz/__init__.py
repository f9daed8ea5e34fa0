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
    from ffnviz.analysis.causal.ablate import Ablation, ablate
    from ffnviz.analysis.causal.attribution import (
        GradientAttribution,
        LogitAttribution,
        gradient_attribution,
        logit_attribution,
        loss_gradient,
    )
    from ffnviz.analysis.causal.heads import HeadAttribution, HeadMap, head_attribution, head_map
    from ffnviz.analysis.causal.measure import LogitDifference, logit_difference
    from ffnviz.analysis.causal.patch import Noise, PatchMap, patch, patch_map
    from ffnviz.analysis.causal.paths import NeuronPaths, neuron_paths
    from ffnviz.analysis.causal.steer import Contrast, contrast, steer
    from ffnviz.analysis.features import (
        FeatureExamples,
        Features,
        Replaced,
        sae_error,
        sae_examples,
        sae_features,
        sae_words,
    )
    from ffnviz.analysis.neurons.descriptions import (
        Description,
        Descriptions,
        DescriptionsError,
        Score,
        read_descriptions,
        write_descriptions,
    )
    from ffnviz.analysis.neurons.index_file import IndexFileError, read_index
    from ffnviz.analysis.neurons.memory import RankedWords
    from ffnviz.analysis.neurons.neuron_index import BlockIndex, Example, NeuronIndex
    from ffnviz.analysis.writing import GeneratedToken, Generation, generate
    from ffnviz.export.document import TooLargeError
    from ffnviz.export.notebook import Shown, show, view
    from ffnviz.models.activations.activation import Activation
    from ffnviz.models.card import Card, Provenance, Sizes
    from ffnviz.models.edit import Edit
    from ffnviz.models.encoder.attention import AttentionPatterns, AttentionRecord
    from ffnviz.models.encoder.config import ConfigError, EncoderConfig
    from ffnviz.models.encoder.feed_forward import FeedForwardRecord, GatedFeedForwardRecord
    from ffnviz.models.encoder.folder import ModelFolderError
    from ffnviz.models.encoder.model import Model
    from ffnviz.models.encoder.tokenizer import Encoding, Token, Tokenizer
    from ffnviz.models.external.network import ExternalNetwork
    from ffnviz.models.external.opening import from_module
    from ffnviz.models.external.proof import Proof
    from ffnviz.models.external.refusal import CannotOpenError
    from ffnviz.models.external.tokenizer import ExternalTokenizer
    from ffnviz.models.network import Network, NotForThisNetwork, UnreadableTextError
    from ffnviz.models.registry import load
    from ffnviz.models.sae import Sae, SaeError, read_sae
    from ffnviz.models.trace import BlockTrace, StreamTrace, Trace
    from ffnviz.models.trace_file import TraceFileError
    from ffnviz.models.trace_table import JoinedTrace
    from ffnviz.models.views import AttentionView, FfnView, Norm, WordHead, WordVectors
    from ffnviz.models.weights import WeightsChangedError

__version__ = "0.1.0"
__all__ = [
    "Ablation", "Activation", "AttentionPatterns", "AttentionRecord", "AttentionView", "BlockIndex",
    "BlockTrace", "CannotOpenError", "Card", "ConfigError", "Contrast", "Description",
    "Descriptions", "DescriptionsError", "Edit", "EncoderConfig", "Encoding", "Example",
    "ExternalNetwork", "ExternalTokenizer", "FeatureExamples", "Features", "FeedForwardRecord",
    "FfnView", "GatedFeedForwardRecord", "GeneratedToken", "Generation", "GradientAttribution",
    "HeadAttribution", "HeadMap", "IndexFileError", "JoinedTrace", "LogitAttribution",
    "LogitDifference", "Model", "ModelFolderError", "Network", "NeuronIndex", "NeuronPaths",
    "Noise", "Norm", "NotForThisNetwork", "PatchMap", "Proof", "Provenance", "RankedWords",
    "Replaced", "Sae", "SaeError", "Score", "Shown", "Sizes", "StreamTrace", "Token", "Tokenizer",
    "TooLargeError", "Trace", "TraceFileError", "UnreadableTextError", "WeightsChangedError",
    "WordHead", "WordVectors", "ablate", "contrast", "from_module", "generate",
    "gradient_attribution", "head_attribution", "head_map", "load", "logit_attribution",
    "logit_difference", "loss_gradient", "neuron_paths", "patch", "patch_map", "read_descriptions",
    "read_index", "read_sae", "sae_error", "sae_examples", "sae_features", "sae_words", "show",
    "steer", "view", "write_descriptions",
]  # fmt: skip

_NAMES = {  # by the module that has them
    "analysis.causal.ablate": "ablate Ablation",
    "analysis.causal.attribution": "gradient_attribution GradientAttribution "
    "logit_attribution LogitAttribution loss_gradient",
    "analysis.causal.heads": "head_attribution head_map HeadAttribution HeadMap",
    "analysis.causal.measure": "logit_difference LogitDifference",
    "analysis.causal.patch": "Noise patch patch_map PatchMap",
    "analysis.causal.paths": "neuron_paths NeuronPaths",
    "analysis.causal.steer": "Contrast contrast steer",
    "analysis.features": "FeatureExamples Features Replaced "
    "sae_error sae_examples sae_features sae_words",
    "analysis.neurons.descriptions": "Description Descriptions DescriptionsError "
    "read_descriptions Score write_descriptions",
    "analysis.neurons.index_file": "IndexFileError read_index",
    "analysis.neurons.memory": "RankedWords",
    "analysis.neurons.neuron_index": "BlockIndex Example NeuronIndex",
    "analysis.writing": "generate GeneratedToken Generation",
    "export.document": "TooLargeError",
    "export.notebook": "show Shown view",
    "models.activations.activation": "Activation",
    "models.card": "Card Provenance Sizes",
    "models.edit": "Edit",
    "models.encoder.attention": "AttentionPatterns AttentionRecord",
    "models.encoder.config": "ConfigError EncoderConfig",
    "models.encoder.feed_forward": "FeedForwardRecord GatedFeedForwardRecord",
    "models.encoder.folder": "ModelFolderError",
    "models.encoder.model": "Model",
    "models.encoder.tokenizer": "Encoding Token Tokenizer",
    "models.external.network": "ExternalNetwork",
    "models.external.opening": "from_module",
    "models.external.proof": "Proof",
    "models.external.refusal": "CannotOpenError",
    "models.external.tokenizer": "ExternalTokenizer",
    "models.network": "Network NotForThisNetwork UnreadableTextError",
    "models.registry": "load",
    "models.sae": "read_sae Sae SaeError",
    "models.trace": "BlockTrace StreamTrace Trace",
    "models.trace_file": "TraceFileError",
    "models.trace_table": "JoinedTrace",
    "models.views": "AttentionView FfnView Norm WordHead WordVectors",
    "models.weights": "WeightsChangedError",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


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
    return sorted([*__all__, "__version__"])
