"""Networks that visitors have trained on this server: in one folder, for as long as it runs."""

import hashlib
import io
import re
import shutil
import tempfile
from pathlib import Path
from zipfile import ZipFile

from ffnviz.models.config import config

MOST = 24  # on one server: none is unloaded, as a link may show it
_NAME = re.compile(r"learned-[a-z0-9-]+")


class NoRoomError(ValueError):
    """This server keeps no more networks; the message says so."""


def learned_folder(name: str) -> Path | None:
    """The folder of such a network by its id; None if there is none."""
    parent = config().learned
    if parent is None or not _NAME.fullmatch(name):
        return None
    return parent / name if (parent / name).is_dir() else None


def is_learned(folder: Path) -> bool:
    """Whether a visitor trained the network in a folder."""
    return folder.parent == config().learned


def keep_learned(zipped: bytes) -> list[str]:
    """Keep the model folders in a ZIP file that this server has made, and return their ids."""
    parent = config().learned
    if parent is None:
        raise RuntimeError("Networks are kept only by a server that `ffnviz app` started.")
    digest = hashlib.sha1(zipped, usedforsecurity=False).hexdigest()[:4]
    with tempfile.TemporaryDirectory(dir=parent, prefix=".") as unpacked:
        with ZipFile(io.BytesIO(zipped)) as file:
            file.extractall(unpacked)
        found = sorted(Path(unpacked).iterdir())
        folders = {f"{each.name.partition('-seed-')[0]}-{digest}": each for each in found}
        new = [name for name in folders if learned_folder(name) is None]
        if len(list(parent.glob("learned-*"))) + len(new) > MOST:
            raise NoRoomError(
                f"This server shows {MOST} trained networks already. Save yours, and open it with "
                "`ffnviz app --model`."
            )
        for name in new:
            try:
                folders[name].rename(parent / name)
            except OSError:  # another process has just kept the same
                shutil.rmtree(folders[name])
    return list(folders)
