"""The names a notebook may rely on. Whoever changes them changes this test, on purpose."""

import ffnviz


def test_the_public_names_are_these() -> None:
    assert sorted(ffnviz.__all__) == [
        "ConfigError",
        "Edit",
        "EncoderConfig",
        "Model",
        "ModelFolderError",
        "Trace",
        "load",
    ]


def test_each_public_name_is_there_and_says_what_it_is() -> None:
    for name in ffnviz.__all__:
        assert getattr(ffnviz, name).__doc__, name


def test_the_errors_are_value_errors_so_a_notebook_can_catch_them_as_such() -> None:
    assert issubclass(ffnviz.ConfigError, ValueError)
    assert issubclass(ffnviz.ModelFolderError, ValueError)


def test_what_the_readme_shows_can_be_reached_from_a_trace() -> None:
    fields = ffnviz.Trace.__dataclass_fields__
    assert {"tokens", "text", "embedding", "blocks", "final", "logits"} <= fields.keys()
