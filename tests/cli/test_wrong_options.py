"""A wrong option of a command that reads a sentence is answered in words."""

import click
import pytest
from click.testing import CliRunner

from ffnviz.cli import main


@pytest.mark.parametrize("command", ["lab", "timing"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--text", ""], "The text is empty"),
        (["--block", "3"], "there are 2 blocks, counted from 1"),
        (["--device", "warp"], "cannot be used"),
        (["--twin", "tanh"], "'tanh' is not one of"),
    ],
)
def test_what_both_commands_refuse(command: str, options: list[str], message: str) -> None:
    refused(command, *options, message=message)


def test_what_each_refuses() -> None:
    refused("lab", "--token", "99", message="there are 8 tokens, counted from 1")
    refused("timing", "--repeats", "0", message="0 is not in the range")


def refused(*words: str, message: str) -> None:
    result = CliRunner().invoke(main, words)
    assert result.exit_code != 0
    assert message in result.output
    assert "Traceback" not in result.output


def commands() -> dict[str, click.Command]:
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def test_each_option_that_takes_a_place_says_from_which_number_it_counts() -> None:
    places = {}
    for name, command in commands().items():
        for option in command.params:
            if isinstance(option, click.Option) and {"--block", "--blocks", "--token"} & {
                *option.opts
            }:
                places[name, option.opts[0]] = (option.help or "").partition(":")[0].split(";")[0]
    counted = {place for place, told in places.items() if told == "Counted from 1, as on the pages"}
    assert counted == {
        ("lab", "--block"),
        ("lab", "--token"),
        ("timing", "--block"),
        ("index", "--blocks"),
    }
    assert {*places} - counted == {("train", "--blocks")}  # how many, and no place


@pytest.mark.parametrize("command", ["lab", "timing", "index"])
def test_what_is_written_says_from_which_number_it_counts(command: str) -> None:
    told = {option.opts[0]: getattr(option, "help", "") for option in commands()[command].params}
    assert "counted from 1" in told["--json"]
    if command == "index":
        assert "blocks are counted from 0" in told["--table"]
        assert "layers are counted from 0" in told["--describe"]
