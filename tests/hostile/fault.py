"""What a hostile input brought about that it should not."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

HUNG_S = 5.0


@dataclass(frozen=True)
class Fault:
    """One that was found."""

    of: str  # the input, as Python writes it
    what: str  # it did

    def __str__(self) -> str:
        shown = self.of if len(self.of) <= 160 else f"{self.of[:160]}…"
        return f"{self.what}: {shown}"


@dataclass
class Found:
    """All faults of a trial, and how long the slowest input took."""

    tried: int = 0  # inputs
    refused: int = 0  # those that were answered with a reason, where that is what is right
    faults: list[Fault] = field(default_factory=list)  # what went wrong
    slowest: tuple[float, str] = (0.0, "")  # seconds, and the input

    def fault(self, of: object, what: str) -> None:
        """Note one."""
        self.faults.append(Fault(of if isinstance(of, str) else repr(of), what))

    @contextmanager
    def timed(self, of: object) -> Iterator[None]:
        """One input, which must be answered in time and raise nothing."""
        self.tried += 1
        shown, began = repr(of), time.process_time()
        try:
            yield
        except Exception as error:
            self.fault(shown, f"raised {type(error).__name__} ({error})")
        took = time.process_time() - began
        self.slowest = max(self.slowest, (took, shown))
        if took > HUNG_S:
            self.fault(shown, f"took {took:.1f} s")
