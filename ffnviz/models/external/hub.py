"""Fetching a network from the Hugging Face Hub into the usual cache."""

from pathlib import Path

from ffnviz.models.external.refusal import CannotOpenError

SMALL = ["*.json", "*.txt", "*.model", "*.spm"]
WEIGHTS = ["*.safetensors"]


def fetch(name: str, revision: str | None, patterns: list[str]) -> Path:
    """The folder in the cache that holds a repository's top-level files of those patterns.

    Raises:
        CannotOpenError: in plain words, if there is no such repository or it cannot be fetched.
    """
    from huggingface_hub import errors, snapshot_download

    at = f" at revision “{revision}”" if revision else ""
    try:
        return Path(
            snapshot_download(
                name, revision=revision, allow_patterns=patterns, ignore_patterns=["*/*"]
            )
        )
    except errors.HFValidationError as error:
        why = ("it is neither a folder nor a name on the Hugging Face Hub. A name reads like "
               "“gpt2” or “google/gemma-2-2b”")  # fmt: skip
        raise CannotOpenError(name, why) from error
    except errors.GatedRepoError as error:
        why = ("its owner asks you to accept terms first. Do so on its page on the Hugging Face "
               "Hub, and log in with “hf auth login”")  # fmt: skip
        raise CannotOpenError(name, why) from error
    except errors.RevisionNotFoundError as error:
        raise CannotOpenError(name, f"there is no such revision: “{revision}”") from error
    except errors.RepositoryNotFoundError as error:
        why = ("there is no folder and no public network on the Hugging Face Hub of that name. "
               "Check the spelling; for a private one, log in with “hf auth login”")  # fmt: skip
        raise CannotOpenError(name, why) from error
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        why = (f"it is not on this computer{at}, and the Hugging Face Hub cannot be reached. "
               "Connect once to download it, or give a folder")  # fmt: skip
        raise CannotOpenError(name, why) from error
    except (errors.HTTPError, OSError) as error:  # of the server, the network, or the disk
        why = (f"it could not be fetched from the Hugging Face Hub{at} "
               f"({type(error).__name__}). Try again later")  # fmt: skip
        raise CannotOpenError(name, why) from error
