"""Disks, files, rights, pipes and Ctrl-C: a sentence and exit code 1, never a stack trace."""

import errno
import importlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from ffnviz.cli.options import MOST_THREADS, Commands, show_json, with_bar
from tests.commands import assert_refused, done, run

ROOT = Path(__file__).parents[2]
TRAIN = ["train", "--hold-out", "two"]
INDEX = ["index", "--twin", "relu"]


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "books"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text("The dog ran home.\n", encoding="utf-8")
    return folder


@pytest.fixture
def _no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever takes long fails the test."""

    def begun(*_: object) -> None:
        pytest.fail("the work began before all was checked")

    monkeypatch.setattr(importlib.import_module("ffnviz.cli.index"), "opened", begun)
    monkeypatch.setattr(importlib.import_module("ffnviz.cli.train"), "prepare", begun)
    monkeypatch.setattr(importlib.import_module("ffnviz.cli.train"), "make_twin", begun)


# What makes a book that is none, and what is said of it.
SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "a folder": (Path.mkdir, "is not a file"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "is a link to nothing"),
    "a pipe": (os.mkfifo, "is not a file"),
    "not UTF-8": (
        lambda path: path.write_bytes(b"good\n" * 5 + b"\xff\n"),
        "is not text in UTF-8 or UTF-16",
    ),
    "a name that is not UTF-8": (
        lambda path: Path(os.fsdecode(os.fsencode(path.parent) + b"/zzz\xff.txt")).touch(),
        "has a name that is not UTF-8",
    ),
}


def spoil(books: Path, how: str) -> str:
    """Put a book that is none on the shelf, the last one in order; what is said of it."""
    make, said = SPOILT[how]
    make(books / f"zzz {how}.txt")
    return said


def test_index_reads_the_other_books(books: Path, tmp_path: Path) -> None:
    for how in SPOILT:
        spoil(books, how)
    told = done(*INDEX, "--corpus", books, "--out", tmp_path / "out")
    assert "8 texts" in told.output, "two, and the six lines of which one is not UTF-8"
    assert "zzz not UTF-8.txt: lines that are not UTF-8" in told.output


@pytest.mark.parametrize("how", SPOILT)
def test_train_names_a_book_that_is_none(books: Path, tmp_path: Path, how: str) -> None:
    said = spoil(books, how)
    out, work = tmp_path / "out", tmp_path / "work"
    told = run(*TRAIN, "--corpus", books, "--out", out, "--work", work)
    assert_refused(told, "zzz", said)
    assert not out.exists()
    assert not work.exists()


@pytest.mark.parametrize("command", ["index", "train"])
def test_a_book_one_may_not_read_is_named(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    whole = Path.open

    def refused(path: Path, *arguments: object, **options: object) -> object:
        if path.name == "two.txt":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return whole(path, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refused)
    options = INDEX if command == "index" else [*TRAIN, "--work", str(tmp_path / "work")]
    told = run(*options, "--corpus", books, "--out", tmp_path / "out")
    if command == "index":  # goes on with the others
        assert told.exit_code == 0, told.output
        assert "two.txt: cannot be read (Permission denied): 1" in told.output
    else:
        assert_refused(told, "two.txt cannot be read: Permission denied")


def run_to(option: str, place: Path, books: Path, tmp_path: Path) -> Result:
    """A command that is to write to a place with one of its options."""
    command, name = option.split()
    places = {"--out": tmp_path / "out", name: place}
    if command == "train":
        places = {"--work": tmp_path / "work", **places}
    options = INDEX if command == "index" else TRAIN
    return run(*options, "--corpus", books, *(x for pair in places.items() for x in pair))


@pytest.mark.usefixtures("_no_work")
@pytest.mark.parametrize("option", ["index --out", "train --out", "train --work"])
def test_a_place_that_cannot_be_written_to_is_named_before_the_work(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    (tmp_path / "file").touch()
    for place in ("file", "file/below"):
        assert_refused(run_to(option, tmp_path / place, books, tmp_path), "file")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["books", "file"]
    whole = os.open

    def refused(path: str, *arguments: int, **options: int) -> int:
        if "closed" in str(path) and arguments[0] & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return whole(path, *arguments, **options)

    (tmp_path / "closed").mkdir()
    monkeypatch.setattr(os, "open", refused)
    told = run_to(option, tmp_path / "closed", books, tmp_path)
    assert_refused(told, f"{tmp_path / 'closed'}: it is on a disk that can only be read.")


def test_a_full_disk_keeps_the_old(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "relu.npz").write_bytes(b"the old one")
    whole = os.write

    def full(file: int, content: bytes) -> int:
        if len(content) > 4_096:
            whole(file, content[:4_096])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return whole(file, content)

    monkeypatch.setattr(os, "write", full)
    told = run(*INDEX, "--corpus", books, "--out", tmp_path)
    assert_refused(told, f"{tmp_path / 'relu.npz'}: the disk is full. Make room")
    assert (tmp_path / "relu.npz").read_bytes() == b"the old one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["books", "relu.npz"]


def test_an_option_out_of_range_is_refused_with_what_it_can_be(books: Path) -> None:
    for device in ["meta", "", "cpu\n", "ä", "lazy", "cuda:-1", "cuda:" + "9" * 30]:
        assert_refused(run("lab", "--device", device), "cannot be used")
    for command in ["index", "lab", "timing", "train"]:
        assert_refused(run(command, "--threads", 100_000), "--threads", f"1<=x<={MOST_THREADS}")
        assert f"at most 4 for each of its {os.cpu_count()} cores" in " ".join(
            run(command, "--help").output.split()
        )
    for option, value in [("--seed", -1), ("--seed", 10**30), ("--steps", 10**30)]:
        assert_refused(run("train", "--corpus", books, option, value), option, "range")


def failing(error: BaseException) -> Commands:
    """A command line whose one command ends with an error."""

    @click.group(cls=Commands)
    def commands() -> None:
        pass

    @commands.command()
    def fail() -> None:
        raise error

    return commands


def test_an_error_from_outside_is_told_in_a_sentence() -> None:
    for error, told in [
        (KeyboardInterrupt(), "Stopped."),
        (MemoryError(), "Error: There is not enough memory for this."),
        (OSError(errno.ENOSPC, "No space left on device"), "Error: the output: the disk is full."),
        (
            PermissionError(errno.EACCES, "Permission denied", "/x"),
            "Error: /x: reading or writing it",
        ),
        (OSError(errno.EIO, "Input/output error", b"/x\xff"), "Error: /x�: Input/output error."),
        (OSError("no number"), "Error: the output: no number."),
    ]:
        result = CliRunner().invoke(failing(error), ["fail"])
        assert_refused(result)
        assert (result.exit_code == 130) == isinstance(error, KeyboardInterrupt)
        assert result.output.strip().startswith(told)

    result = CliRunner().invoke(failing(BrokenPipeError(errno.EPIPE, "Broken pipe")), ["fail"])
    assert_refused(result)
    assert result.output == ""

    @click.command()
    def show() -> None:
        show_json({"text": "φ\udcff"})

    assert CliRunner(charset="ascii").invoke(show).stdout.split('"')[3] == r"\u03c6\udcff"


def test_a_full_or_closed_stdout_ends_without_a_trace() -> None:
    command = f"{sys.executable} -m ffnviz --help"
    for where, code, told in (
        (">/dev/full", 1, "Error: the output: the disk is full."),
        (">&-", 0, ""),
    ):
        ended = subprocess.run(
            ["sh", "-c", command + where], cwd=ROOT, capture_output=True, text=True
        )
        assert ended.returncode == code
        assert ended.stderr.startswith(told)
        assert len(ended.stderr.splitlines()) == bool(told)


@pytest.mark.parametrize(
    "start", [["-m", "ffnviz"], ["-c", "import ffnviz.__main__ as m; m.main()"]]
)
def test_ctrl_c_while_pytorch_is_imported_leaves_no_trace(tmp_path: Path, start: list[str]) -> None:
    (tmp_path / "torch.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n",
        encoding="utf-8",
    )
    ended = subprocess.run(
        [sys.executable, *start, "--help"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background
    )  # fmt: skip
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "\nStopped.\n")


class Terminal(io.StringIO):
    """What a test can read, and a program takes for a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in [io.StringIO, Terminal]:
        stderr = kind()
        monkeypatch.setattr(sys, "stderr", stderr)
        with_bar("claims", lambda tell: tell(0.5))
        assert ("claims" in stderr.getvalue()) == (kind is Terminal)
    monkeypatch.setattr(sys, "stderr", None)
    assert with_bar("claims", lambda tell: tell(0.5)) is None
