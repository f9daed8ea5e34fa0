"""The names a notebook may rely on. Whoever changes them changes this test, on purpose."""

from pathlib import Path

import ffnviz


def test_the_public_names_are_these() -> None:
    assert sorted(ffnviz.__all__) == [
        "CannotOpenError",
        "ConfigError",
        "Description",
        "Descriptions",
        "Edit",
        "EncoderConfig",
        "ExternalNetwork",
        "GeneratedToken",
        "Generation",
        "GradientAttribution",
        "HeadAttribution",
        "HeadMap",
        "Model",
        "ModelFolderError",
        "Noise",
        "NotForThisNetwork",
        "PatchMap",
        "Sae",
        "SaeError",
        "Trace",
        "ablate",
        "contrast",
        "from_module",
        "generate",
        "gradient_attribution",
        "head_attribution",
        "head_map",
        "load",
        "logit_attribution",
        "logit_difference",
        "loss_gradient",
        "neuron_paths",
        "patch",
        "patch_map",
        "read_descriptions",
        "read_index",
        "read_sae",
        "sae_error",
        "sae_examples",
        "sae_features",
        "sae_words",
        "show",
        "steer",
        "view",
        "write_descriptions",
    ]


def test_each_public_name_is_there_and_says_what_it_is() -> None:
    for name in ffnviz.__all__:
        assert getattr(ffnviz, name).__doc__, name


def test_the_errors_are_value_errors_so_a_notebook_can_catch_them_as_such() -> None:
    assert issubclass(ffnviz.ConfigError, ValueError)
    assert issubclass(ffnviz.ModelFolderError, ValueError)
    assert issubclass(ffnviz.CannotOpenError, ValueError)


def test_what_the_readme_shows_can_be_reached_from_a_trace(model_folder: Path) -> None:
    trace = ffnviz.load(model_folder).trace("The cat sat on the [MASK].")
    n = len(trace.tokens)
    block = trace.blocks[0]
    assert trace.text.startswith("The cat")
    assert trace.embedding.shape == trace.final.shape == block.middle.shape == (n, 16)
    assert trace.logits.shape == (n, 300)
    assert block.attention.weights.shape == (2, n, n)
    for name in ("input", "output"):
        assert getattr(block.ffn, name).shape == getattr(block, name).shape == (n, 16)
    for name in ("pre_activation", "hidden"):
        assert getattr(block.ffn, name).shape == (n, 32)
