"""The files of a corpus, on this machine or in an object store.

Keys come from where each store's own tools look for them: the environment, a file in the home
folder, the machine's role. All other settings are in the address, so that any process can use it:
`s3://bucket/folder?region=eu-west-1`.
"""

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

SCHEMES = ("s3", "gs")
READ_BYTES = 2**20  # at a time: a request takes as long as some 100 kB do
# At the start a store that does not answer is reported soon; a run of hours bears a busy one.
ATTEMPTS = {"soon": 2, "patiently": 6}
SECONDS = {"soon": 10, "patiently": 120}  # of attempts in all, of Google's client
_S3_OPTIONS = ("region", "scheme", "endpoint_override")

_WHY = {
    "NO_SUCH_BUCKET": "there is no such bucket",
    "ACCESS_DENIED": "reading it is not allowed, or no credentials were found",
    "INVALID_ACCESS_KEY_ID": "the store does not know this access key",
    "INVALID_CLIENT_TOKEN_ID": "the store does not know this access key",
    "SIGNATURE_DOES_NOT_MATCH": "the secret key is not that of this access key",
    "EXPIRED_TOKEN": "the credentials have expired",
    "OAuth2 access token": "no Google credentials were found, or nobody answers",
    "PERMISSION_DENIED": "reading it is not allowed",
    "UNAUTHENTICATED": "reading it is not allowed, or no credentials were found",
    "Could not resolve host": "no machine has this name, or the network is down",
    "NETWORK_CONNECTION": "nobody answers there",
    "UNAVAILABLE": "nobody answers there",
}


class StoreError(ValueError):
    """A store cannot be used; the message says which, and why."""


@dataclass(frozen=True, order=True)
class Address:
    """A bucket, or a folder or file in one, as it was typed."""

    text: str = field(repr=False)

    @property
    def shown(self) -> str:
        """The address without what may be secret."""
        parts = urlsplit(self.text)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def name(self) -> str:
        """The name of the last folder, or of the bucket."""
        return PurePosixPath(self.place).name

    @property
    def place(self) -> str:
        """The path within the store, the bucket first."""
        parts = urlsplit(self.text)
        return unquote(parts.netloc.rpartition("@")[2] + parts.path).strip("/")

    def system(self, how: str = "patiently") -> Any:
        """The store's file system, with retries as `how` says."""
        return _system(self.text, how)

    def check(self) -> None:
        """Check that there is something at the address; raises StoreError if not."""
        with _store_errors(self.shown):
            if self.system("soon").get_file_info(self.place).type == fs.FileType.NotFound:
                raise StoreError(f"{self.shown}: there is no such bucket, folder or file.")

    def files(self) -> list["Stored"]:
        """All files at the address, at whatever depth; the file itself if it is one."""
        self.check()
        with _store_errors(self.shown):
            info = self.system().get_file_info(self.place)
            if info.type == fs.FileType.File:
                infos = [info]
            else:
                infos = self.system().get_file_info(fs.FileSelector(self.place, recursive=True))
            files = [Stored(self, i.path, i.size) for i in infos if i.type == fs.FileType.File]
            if files:  # listing may be allowed and reading not: better reported once, now
                with files[0].random() as file:
                    file.read(1)
        return files


@dataclass(frozen=True, order=True)
class Stored:
    """A file in a store."""

    address: Address  # under which it was found
    place: str  # the file's, within the store, the bucket first
    size: int  # in bytes

    @property
    def path(self) -> PurePosixPath:
        """The file's path within the store."""
        return PurePosixPath(self.place)

    @property
    def shown(self) -> str:
        """The file's address as messages show it, without keys."""
        return f"{urlsplit(self.address.text).scheme}://{self.place}"

    def random(self) -> Any:
        """The file for random access, as pyarrow has it."""
        return self.address.system().open_input_file(self.place)


def parse_place(text: str) -> Address | Path:
    """The address that a text names, or the path that `file://` leads to; raises StoreError."""
    scheme = urlsplit(text).scheme
    if scheme == "file":
        with _store_errors(text):
            return Path(fs.FileSystem.from_uri(text)[1])
    if scheme not in SCHEMES:
        raise StoreError(f"{scheme}:// leads to no store. Give s3://BUCKET/FOLDER or gs://….")
    address = Address(text)
    if not urlsplit(text).netloc.rpartition("@")[2]:
        raise StoreError(f"{address.shown} names no bucket.")
    return address


@lru_cache(maxsize=64)
def _system(text: str, how: str) -> Any:
    address, parts = Address(text), urlsplit(text)
    with _store_errors(address.shown):
        if parts.scheme == "s3":
            return _s3(address, how)
        if "retry_limit_seconds" not in parts.query:
            text += f"{'&' if parts.query else '?'}retry_limit_seconds={SECONDS[how]}"
        return fs.FileSystem.from_uri(text)[0]


def _s3(address: Address, how: str) -> Any:
    """S3 with fewer and shorter retries than pyarrow's thirty of three seconds each."""
    parts = urlsplit(address.text)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = [name for name in options if name not in _S3_OPTIONS]
    if unknown:
        known = ", ".join(_S3_OPTIONS)
        raise StoreError(f"{address.shown}: “{unknown[0]}” is not one of its options: {known}.")
    anywhere = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if not (options.keys() & {"region", "endpoint_override"} or anywhere):
        options["region"] = fs.resolve_s3_region(address.place.partition("/")[0])
    credentials, _, _ = parts.netloc.rpartition("@")
    key, _, secret = credentials.partition(":")
    return fs.S3FileSystem(
        access_key=unquote(key) or None,
        secret_key=unquote(secret) or None,
        retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS[how]),
        **options,
    )


@contextmanager
def _store_errors(shown: str) -> Iterator[None]:
    """Raise errors of pyarrow as a StoreError that names the address."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"{shown}: {why(error)}.") from error


def why(error: Exception) -> str:
    """An error in words, without a full stop."""
    message = str(error)
    known = next((sentence for mark, sentence in _WHY.items() if mark in message), None)
    return known or (message.splitlines() or [type(error).__name__])[0][:160].rstrip(".")


PACKED = {".gz": "gzip", ".zst": "zstd"}
KINDS = (".txt", ".jsonl", ".parquet")

Place = Path | Address  # of a file or folder
File = Path | Stored


def files_in(paths: Sequence[Place]) -> Iterator[File]:
    """All files of a corpus: this machine's first, then the stores', each sorted by path.

    Left out are names that begin with a dot in a folder, and links that lead out of it: whoever
    names a folder has not named what lies elsewhere.
    """
    local: list[Path] = []
    stored: list[Stored] = []
    for path in paths:
        if isinstance(path, Address):
            stored += (each for each in path.files() if not _hidden(each.path, path.place))
        elif path.is_dir():
            top = path.resolve()
            local += (
                each
                for each in path.rglob("*")
                if each.is_file() and not _hidden(each, path) and top in each.resolve().parents
            )
        elif path.is_file():
            local.append(path)
    stored.sort(key=lambda each: (each.path, each.address))
    files: list[File] = [*sorted(local), *stored]
    yield from (each for each in files if kind_of(pure(each))[0] in KINDS)


def _hidden(path: PurePath, folder: PurePath | str) -> bool:
    """Whether the file's path within the folder has a name that begins with a dot."""
    return any(name.startswith(".") for name in path.relative_to(folder).parts)


def kind_of(path: PurePath) -> tuple[str, str | None]:
    """A file's suffix, without that of its compression, and the compression if it has one."""
    packed = PACKED.get(path.suffix)
    return (path.with_suffix("") if packed else path).suffix.lower(), packed


@contextmanager
def opened(path: File) -> Iterator[IO[bytes]]:
    """A stream of the file's bytes: seekable, or decompressed from its start."""
    packed = PACKED.get(pure(path).suffix)
    if isinstance(path, Path) and not packed:
        with path.open("rb") as file:
            yield file
    elif isinstance(path, Path):
        with pa.input_stream(str(path), compression=packed) as stream:
            yield io.BufferedReader(stream)
    elif not packed:
        with path.random() as stream:
            yield io.BufferedReader(stream, READ_BYTES)
    else:
        system = path.address.system()
        with system.open_input_stream(path.place, packed, READ_BYTES) as stream:
            # As small a buffer as for a disk: as much is read of what is cut off later.
            yield io.BufferedReader(stream)


def start_of(path: File, n: int) -> bytes:
    """The first n bytes of a file, as they are stored."""
    with path.random() if isinstance(path, Stored) else path.open("rb") as file:
        return bytes(file.read(n))


def table_of(path: File) -> pq.ParquetFile:
    """The table of a .parquet file."""
    if isinstance(path, Stored):
        return pq.ParquetFile(path.random(), pre_buffer=True)
    return pq.ParquetFile(path)


def pure(path: File) -> PurePath:
    """The file's path without its file system."""
    return path.path if isinstance(path, Stored) else path


def name_of(path: File) -> str:
    """The file's name, whatever bytes it has."""
    return readable(pure(path).name)


def readable(name: str) -> str:
    """A name with ? for bytes that are not text."""
    return name.encode(errors="replace").decode()
