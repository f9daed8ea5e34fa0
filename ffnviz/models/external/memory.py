"""How much memory a network takes before it is loaded, how much is free, and what glibc keeps."""

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ffnviz.models.card import Sizes

RESERVED_BYTES = 400 * 2**20  # a trace, the pages, and what loading itself needs
LARGE = 2_000_000_000  # parameters; from there on, half precision is usual on the CPU, too


@dataclass(frozen=True)
class Footprint:
    """A network's size, from its shapes alone."""

    n_parameters: int  # weights that are used twice are counted once
    dtype: torch.dtype  # in which it would be loaded

    @property
    def n_bytes(self) -> int:
        """Bytes of the weights in that dtype."""
        return self.n_parameters * self.dtype.itemsize

    @property
    def in_words(self) -> str:
        """Its size, for people."""
        size, kind = gigabytes(self.n_bytes), dtype_name(self.dtype)
        return f"{weights(self.n_parameters)} parameters, {size} in {kind}"


def dtype_name(dtype: torch.dtype) -> str:
    """The name without its module: float32."""
    return str(dtype).removeprefix("torch.")


def gigabytes(n: float) -> str:
    """Bytes, for people: 16.1 GB, 3.2 MB, 14 kB."""
    if n < 1e6:
        return f"{n / 1e3:.0f} kB"
    return f"{n / 1e9:.1f} GB" if n >= 1e8 else f"{n / 1e6:.1f} MB"


def weights(n: int) -> str:
    """How many weights a network has, as people say it: 22.7M."""
    for size, name in ((1e9, "B"), (1e6, "M")):
        if n >= size:
            return f"{n / size:.3g}{name}"
    return f"{n:,}"


def footprint(make: Any, device: torch.device, dtype: torch.dtype | None) -> Footprint:
    """The size of the network that `make` builds, found without any weights.

    Without a dtype it is float32 on the CPU below 2 billion parameters, else bfloat16.
    """
    with torch.device("meta"):
        model: nn.Module = make()
    n = sum(parameter.numel() for parameter in model.parameters())
    small = n < LARGE and device.type == "cpu"
    return Footprint(n, dtype or (torch.float32 if small else torch.bfloat16))


def free_bytes(device: torch.device) -> int:
    """Bytes that are free now; on the CPU, no more than the container may use."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        meminfo = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines}
        free = meminfo["MemAvailable"]
    except (OSError, KeyError, ValueError, IndexError):
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        listed = Path("/proc/self/cgroup").read_text(encoding="utf-8")
    except OSError:
        listed = ""
    return min([free, *left_by_groups(Path("/sys/fs/cgroup"), listed)])


def left_by_groups(root: Path, listed: str) -> Iterator[int]:
    """Bytes that each control group of a process leaves, its own and all above it.

    Files in a group's cache count as free: the kernel gives them back. `listed` is what
    /proc/self/cgroup says; a container may not see the paths in it.
    """
    for line in listed.splitlines() or ["0::/"]:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            mount, limit, used, prefix = root, "memory.max", "memory.current", ""
        elif "memory" in controllers.split(","):
            mount, prefix = root / "memory", "total_"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inside = Path(path.strip("/"))
        for group in (inside, *inside.parents):
            with suppress(OSError, ValueError, KeyError):  # no such group, or one without a limit
                files = (mount / group / name for name in (limit, used, "memory.stat"))
                most, now, stat = (file.read_text(encoding="ascii") for file in files)
                counts = dict(each.split() for each in stat.splitlines())
                cached = (int(counts[f"{prefix}{kind}_file"]) for kind in ("inactive", "active"))
                yield int(most) - int(now) + sum(cached)


def check_memory(sizes: Sizes, n_tokens: int, device: torch.device) -> None:
    """See that the streams of so many tokens fit into memory, before they are computed."""
    needed = sizes.trace_nbytes(n_tokens)
    if needed >= RESERVED_BYTES and needed + RESERVED_BYTES > (free := free_bytes(device)):
        raise MemoryError(
            f"The stream of {n_tokens:,} tokens takes {gigabytes(needed)}, and "
            f"{gigabytes(max(0, free))} of memory is free. Trace a shorter text, or fewer at once."
        )


def too_large(needs: Footprint, device: torch.device, free: int) -> str | None:
    """Why a network does not fit into what is free, and what would; None if it fits."""
    if needs.n_bytes + RESERVED_BYTES <= free:
        return None
    where = {"cpu": "this computer's memory", "cuda": "the GPU's memory"}.get(device.type, "memory")
    said = (
        f"it has {needs.in_words}, and {gigabytes(max(0, free))} of {where} is free. It "
        "would not fit, so it was not loaded."
    )
    half = Footprint(needs.n_parameters, torch.bfloat16)
    if half.n_bytes < needs.n_bytes and half.n_bytes + RESERVED_BYTES <= free:
        return f"{said} In bfloat16 it needs {gigabytes(half.n_bytes)} and fits: --dtype bfloat16"
    if device.type == "cuda":
        on_cpu = free_bytes(torch.device("cpu"))
        if half.n_bytes + RESERVED_BYTES <= on_cpu:
            return f"{said} It fits in this computer's own memory: --device cpu"
    most = max(0, free - RESERVED_BYTES) // torch.bfloat16.itemsize
    advice = f"In bfloat16, {weights(most)} parameters would fit here; choose a smaller network"
    return f"{said} {advice}"


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of mallopt
_NEVER = 2**31 - 1
_LARGEST = (2**30, 2**25)  # bytes; older versions take no more than the second
_LARGE = 256 * 1024
_OF_A_TRACE = 256 * 2**20
_settled = threading.Event()  # a server and a process that counts have rules of their own
SAID = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "GLIBC_TUNABLES")


def keep_freed_traces() -> None:
    """Have this process keep up to 256 MB of freed memory for its next trace.

    A trace otherwise asks the system for every page anew: a twentieth of a pass of GPT-2's shape.
    Who has said in the environment what becomes of freed memory is left alone.
    """
    if not _settled.is_set() and not any(name in os.environ for name in SAID):
        _call("mallopt", _TRIM_THRESHOLD, _OF_A_TRACE)
        _call("mallopt", _MMAP_THRESHOLD, _LARGEST[1])


def keep_what_is_free() -> None:
    """Have this process keep freed memory for its next batch.

    Large blocks otherwise go back to the system as soon as they are free, and needing them again
    costs every page: a fifth of the time of an index of a network of GPT-2's shape.
    """
    _settled.set()
    _call("mallopt", _TRIM_THRESHOLD, _NEVER)
    for size in _LARGEST:
        if _call("mallopt", _MMAP_THRESHOLD, size):
            return


def large_blocks_go_back() -> None:
    """Map large blocks one by one, so that each goes back to the system when it is freed.

    The threshold rises by itself otherwise, up to 32 MB, and traces then leave holes behind.
    """
    _settled.set()
    _call("mallopt", _MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Return freed memory to the system."""
    _call("malloc_trim", 0)


def _call(name: str, *numbers: int) -> bool:
    function: Any = getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
    return function is not None and bool(function(*numbers))
