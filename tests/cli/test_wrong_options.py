"""A wrong option of a command that reads a sentence is answered in words."""

import pytest
from click.testing import CliRunner

from ffnviz.cli import main


@pytest.mark.parametrize("command", ["lab", "timing"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", ""], "The text is empty"),
        (["--block", "3"], "there are 2 blocks"),
        (["--device", "warp"], "cannot be used"),
        (["--twin", "tanh"], "'tanh' is not one of"),
    ],
)
def test_what_both_commands_refuse(command: str, options: list[str], message: str) -> None:
    refused(command, *options, message=message)


def test_what_each_refuses() -> None:
    refused("lab", "--token", "99", message="there are 8 tokens")
    refused("timing", "--repeats", "0", message="0 is not in the range")


def refused(*words: str, message: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code != 0
    assert message in result.output
    assert "Traceback" not in result.output
