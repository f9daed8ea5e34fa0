"""What a session keeps once its page is shown: a state, and no trace."""

import gc

import pytest

from ffnviz.app.visit import VISIT
from ffnviz.models.trace import StreamTrace
from ffnviz.state import run_factory
from ffnviz.state.cache import Cache
from tests.parts.visits import opened


@pytest.mark.parametrize(
    ("page", "part"),
    [("journey", ""), ("sparsity", "awake"), ("neurons", "wakes"), ("lab", "linear")],
)
def test_open_sessions_hold_no_traces(
    page: str, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        run_factory, "CACHE", Cache(most_bytes=1)
    )  # the newest value stays, no more
    before = traces()
    visits = [opened(page, part=part, text=f"The dogs ran {n} miles.") for n in range(3)]
    gc.collect()
    assert all(visit.session_state[VISIT].state.sentence for visit in visits)
    assert len([trace for trace in traces() if not any(trace is old for old in before)]) <= 1


def traces() -> list[StreamTrace]:
    """All there are in this process; other tests hold some."""
    return [each for each in gc.get_objects() if issubclass(type(each), StreamTrace)]
