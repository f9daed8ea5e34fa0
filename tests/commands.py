"""Command lines as a person types them, and what comes of them."""

from click.testing import CliRunner, Result

from ffnviz.cli import main


def run(*words: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], env=env)


def done(*words: object) -> Result:
    """The same of a command that must succeed."""
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result


def assert_refused(result: Result, *words: str) -> None:
    """An exit code, the words, no trace, and no exception of ours on its way."""
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code in (1, 2, 130)
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.output
