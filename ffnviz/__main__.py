"""The `ffnviz` command; `python -m ffnviz` is the same."""

import gc
import os
import signal

STOPS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def main() -> None:
    """Run the command line; what ends a container, service or terminal stops it as Ctrl-C does.

    Importing PyTorch takes seconds, in which Ctrl-C ends the process at once: the library that is
    being imported might turn the exception into another.
    """
    # oneDNN keeps 1,024 products, one for each length of a sentence: 130 MB, which save no time.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
    handler = signal.getsignal(signal.SIGINT)  # a shell may have told a job to ignore it
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, _stop)
    gc.disable()  # imports leave no garbage, and a fifth of their time would go into looking for it
    from ffnviz.cli import main as commands

    gc.enable()
    try:
        signal.signal(signal.SIGINT, handler)
        for number in STOPS:
            if signal.getsignal(number) is signal.SIG_DFL:  # `nohup` ignores one of them
                signal.signal(number, _interrupt)
        commands(prog_name="ffnviz")
    except KeyboardInterrupt:  # before click was ready for it
        _stop()


def _interrupt(number: int, _: object) -> None:
    raise KeyboardInterrupt(number)


def _stop(*_: object) -> None:
    os.write(2, b"\nStopped.\n")
    os._exit(130)  # as a shell has it: 128 and the signal's number


if __name__ == "__main__":
    main()
