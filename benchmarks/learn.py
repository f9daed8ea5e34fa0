"""What a small network has learned after so much processor time, beside guessing by frequency."""

from benchmarks.measure import machine, table
from ffnviz.training.learn.learner import Learner, Plan, guessing_by_frequency

MARKS_S = (5, 10, 20, 30, 40, 50, 60)
TEXT = "She opened the [MASK] and looked out."


def main() -> None:
    """Print the table."""
    base = guessing_by_frequency()
    rows: list[tuple[object, ...]] = [
        ("by frequency", "", "", f"{base.loss:.2f}", f"{base.top5:.1%}", "1.0", "")
    ]
    left, plan = list(MARKS_S), Plan("relu", TEXT)
    for record in Learner(plan).learn():
        if (left and record.seconds >= left[0]) or record.step == plan.steps:
            left = [mark for mark in left if mark > record.seconds]
            found = record.held_out
            rows.append((
                "trained", f"{record.seconds:.0f}", record.step, f"{found.loss:.2f}",
                f"{found.top5:.1%}", f"{found.top5 / base.top5:.1f}", ", ".join(record.words),
            ))  # fmt: skip
    print("## A small network after so many seconds of one core\n")
    header = ("guess", "s", "step", "loss, nats", "top-5", "ratio", "words")
    print(table(header, rows))
    print(f"\n500 held-out sentences, a word hidden in each. {machine()}")


if __name__ == "__main__":
    main()
