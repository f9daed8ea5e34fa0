"""The code of a class, and the secret that only its lecturer has."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass

from ffnviz.lecture.classroom.errors import NotTheLecturerError

SIGNS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # none that looks like another
LENGTH = 6


@dataclass(frozen=True)
class Opened:
    """A class that has just been opened."""

    code: str  # what students type
    secret: str  # what the lecturer's browser keeps; stores keep only its hash

    @staticmethod
    def new() -> "Opened":
        """A new class's code, one of 31⁶, and its secret of 192 random bits."""
        code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
        return Opened(code, secrets.token_urlsafe(24))


def check_lecturer(secret: str, secret_hash: str) -> None:
    """Raises NotTheLecturerError if the secret is not the one with that hash."""
    if not is_secret(secret, secret_hash):
        raise NotTheLecturerError("Only the lecturer may do this.")


def sum_of(secret: str) -> str:
    """The hash of a secret, which is all that a store keeps of it."""
    return hashlib.sha256(secret.encode()).hexdigest()


def is_secret(secret: str, secret_hash: str) -> bool:
    """Whether the secret has that hash, compared in constant time."""
    return hmac.compare_digest(sum_of(secret), secret_hash)
