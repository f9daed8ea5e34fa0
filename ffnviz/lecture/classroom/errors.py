"""What can go wrong with a class."""

GONE = "The server cannot reach what keeps its classes. Try again in a moment."


class ClassStoreError(RuntimeError):
    """What keeps the classes cannot be used; the message says why."""


class NoSuchClassError(LookupError):
    """There is no class of that code, or it is over."""


class NotTheLecturerError(PermissionError):
    """What only the lecturer may do was asked for without the right secret."""


def class_is_over() -> NoSuchClassError:
    """The error for a class that is not there."""
    return NoSuchClassError("There is no class of this code, or it is over.")


def must_follow_first() -> NoSuchClassError:
    """The error for a student who has not come."""
    return NoSuchClassError("Who takes part must follow the class first.")
