"""What the tests of the public names need where there is only the package and pytest."""

from pathlib import Path

import pytest

import ffnviz
from ffnviz.models.encoder.config import EncoderConfig
from ffnviz.models.encoder.encoder import initial_encoder
from ffnviz.models.encoder.folder import write_folder
from ffnviz.training.twin import train_tokenizer


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small untrained model: 300 entries, d_model 16, d_ff 32."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    words = Path(ffnviz.__file__).read_text(encoding="utf-8").splitlines()  # any text will do
    tokenizer = train_tokenizer(words, 300)
    entries = tokenizer.vocab_size
    config = EncoderConfig(entries, d_model=16, n_heads=2, d_ff=32, n_blocks=2)
    write_folder(folder, initial_encoder(config, seed=1), tokenizer, list(range(entries)))
    return folder
