"""What can go wrong with a class."""

MUST_FOLLOW = "Who takes part must follow the class first."
GONE = "The server cannot reach what keeps its classes. Try again in a moment."


class ClassStoreError(RuntimeError):
    """The store of classes cannot be used; the message says why."""


class NoSuchClassError(LookupError):
    """There is no class of that code, or it is over, or a student does not follow it."""

    def __init__(self, why: str = "There is no class of this code, or it is over.") -> None:
        super().__init__(why)


class NotTheLecturerError(PermissionError):
    """Somebody without the right secret asked for what only the lecturer may do."""
