"""EncoderConfig takes what can run and nothing else, and says what it would take."""

import dataclasses
import importlib.metadata
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ffnviz.models import config as models_config
from ffnviz.models.activations import ACTIVATIONS
from ffnviz.models.config import TOP, install
from ffnviz.models.encoder.config import LARGEST, ConfigError, EncoderConfig

SIZES = ["vocab_size", "max_tokens", "d_model", "n_heads", "d_ff", "n_blocks"]
WHOLE = "a whole number from 1 to 1,000,000"

NO_SIZES: list[object] = [0, -1, LARGEST + 1, 10**30, 2.0, "8", None, True, [8]]
NO_NAMES: list[object] = ["Relu", "Pre", "", None, 1, [], {}]
WRONG: list[tuple[str, object, str]] = [
    *((name, value, WHOLE) for name in SIZES for value in NO_SIZES),
    ("n_heads", 7, "a divisor of d_model = 512"),
    ("n_heads", 1_024, "a divisor of d_model = 512"),
    *(("activation", value, "one of gelu, gelu_tanh") for value in NO_NAMES),
    *(("norm", value, "one of pre, post") for value in NO_NAMES),
    *(
        (name, value, "true or false")
        for name in ("causal", "bias")
        for value in (0, 1, "true", None)
    ),
    *(
        ("dropout", value, "from 0 up to but not including 1")
        for value in (-0.1, 1.0, 1, math.nan, math.inf, "0.1", None, True)
    ),
    *(
        ("layer_norm_eps", value, "between 0 and 1")
        for value in (0.0, -1e-5, 1.0, math.nan, "1e-5", None, False)
    ),
]


def test_a_wrong_value_is_refused_with_its_name_and_what_is_allowed() -> None:
    for field, value, allowed in WRONG:
        with pytest.raises(ConfigError) as caught:
            EncoderConfig.from_dict({field: value})
        message = str(caught.value)
        assert message.startswith(f"{field} = {value!r} ")
        assert allowed in message
    assert {field for field, _, _ in WRONG} == {f.name for f in dataclasses.fields(EncoderConfig)}


def test_what_else_is_refused_and_how_it_is_said() -> None:
    with pytest.raises(ConfigError) as caught:
        EncoderConfig.from_dict({"vocab_size": "x" * 9_999})
    assert str(caught.value).startswith("vocab_size = 'xxx")
    assert len(str(caught.value)) < 200, "of a long value the start and the end are said"
    with pytest.raises(ConfigError, match=r"d_hidden = 3 .* d_ff"):
        EncoderConfig.from_dict({"d_hidden": 3})


@st.composite
def configs(draw: st.DrawFn) -> EncoderConfig:
    """Any configuration that is allowed."""
    size = st.integers(1, 10_000)
    n_heads = draw(st.integers(1, 32))
    return EncoderConfig(
        vocab_size=draw(size),
        max_tokens=draw(size),
        d_model=n_heads * draw(st.integers(1, 128)),
        n_heads=n_heads,
        d_ff=draw(size),
        n_blocks=draw(size),
        activation=draw(st.sampled_from(sorted(ACTIVATIONS))),
        norm=draw(st.sampled_from(["pre", "post"])),
        causal=draw(st.booleans()),
        bias=draw(st.booleans()),
        dropout=draw(st.floats(0, 1, exclude_max=True)),
        layer_norm_eps=draw(st.floats(0, 1, exclude_min=True, exclude_max=True)),
    )


@given(configs())
def test_a_configuration_survives_a_json_file(config: EncoderConfig) -> None:
    values: dict[str, Any] = json.loads(json.dumps(config.to_dict()))
    assert EncoderConfig.from_dict(values) == config
    assert values.get("bias") is (None if config.bias else False), "spoken of where there is none"
    assert config.d_head * config.n_heads == config.d_model


# What is advised to install is right, whatever ffnviz came from.


@pytest.mark.parametrize(
    ("extra", "package"), [("hf", "transformers"), ("ray", "ray[data]"), ("redis", "redis")]
)
def test_packages_are_named_as_the_installed_metadata_has_them(extra: str, package: str) -> None:
    said = install(extra)
    assert re.fullmatch(rf"pip install '{re.escape(package)}[^']*'( '[^']+')*", said)
    assert "ffnviz" not in said


def test_metadata_is_read_in_any_spelling_or_else_the_checkout_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = ["torch>=2", "a>=1,<2; extra == 'hf'", 'b[c]==3 ; python_version > "3" and extra=="hf"']
    monkeypatch.setattr(models_config, "requires", lambda _: lines)
    assert install("hf") == "pip install 'a>=1,<2' 'b[c]==3'"

    def missing(_: str) -> None:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(models_config, "requires", missing)
    assert install("hf") == f"pip install '{TOP}[hf]'"
    assert (Path(TOP) / "pyproject.toml").is_file()
