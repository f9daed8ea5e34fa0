"""Ray on one node, on two, and on two of which one is lost: the same bytes as one process."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ffnviz import __version__
from ffnviz.models.config import install

ray = pytest.importorskip("ray", reason="needs Ray: pip install -r requirements-ray.txt")

from ray._common.usage.usage_lib import usage_stats_enabled  # noqa: E402
from ray.cluster_utils import Cluster  # noqa: E402
from ray.data import DataContext  # noqa: E402

from ffnviz.analysis.neurons.counting import IndexPart  # noqa: E402
from ffnviz.jobs.indexing import on_ray  # noqa: E402
from ffnviz.jobs.indexing.files import Address, Place, Stored, parse_place  # noqa: E402
from ffnviz.jobs.indexing.on_ray import (  # noqa: E402
    ClusterError,
    check_places,
    joined,
    run_ray,
    wrong_here,
)
from ffnviz.jobs.indexing.run import IndexingJob, run_local  # noqa: E402
from ffnviz.jobs.indexing.sources import Piece, pieces_of  # noqa: E402
from tests.jobs.indexing.conftest import Store  # noqa: E402
from tests.jobs.indexing.test_local import JOB, whole  # noqa: E402

pytestmark = pytest.mark.filterwarnings("default")  # Ray's own

NODE = {"num_cpus": 1, "object_store_memory": 2**28}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    patient = {"health_check_period_ms": 1_000}  # so a node counts as lost after five seconds
    head = {**NODE, "_system_config": patient}
    made = Cluster(initialize_head=True, connect=True, head_node_args=head)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> tuple[Piece, ...]:
    """So many that one is still at work on some when the first are done."""
    folder = tmp_path_factory.mktemp("ray") / "books"
    folder.mkdir()
    for name in ("one", "two"):
        lines = [f"{name}: the {w} had {n} dogs.\n" for n in range(160) for w in ("cat", "sea")]
        (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    found = cut_small(folder)
    assert len(found) > 20
    return found


def cut_small(place: Place) -> tuple[Piece, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ffnviz.jobs.indexing.sources.PIECE_BYTES", 600)
        return pieces_of([place])[0]


@pytest.fixture(scope="module")
def one(pieces: tuple[Piece, ...], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    kept = tmp_path_factory.mktemp("one") / "kept"
    return whole(pieces, partial(run_local, workers=1), kept)


@pytest.mark.usefixtures("cluster")
def test_one_node_gives_the_file_also_from_a_store(
    pieces: tuple[Piece, ...], one: bytes, store: Store, tmp_path: Path
) -> None:
    assert len(ray.nodes()) == 1
    DataContext.get_current().execution_no_progress_timeout_s = 0.1  # as if pieces took an hour
    here = pieces[0].path
    assert isinstance(here, Path)
    there = cut_small(parse_place(store.put(here.parent, "ray-books")))
    assert whole(there, partial(run_ray, workers=1), tmp_path / "kept") == one


def test_two_nodes_give_it_though_one_of_them_is_killed(
    cluster: Cluster,
    pieces: tuple[Piece, ...],
    one: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    second = cluster.add_node(**NODE)
    cluster.wait_for_nodes(timeout=30)
    monkeypatch.setattr(on_ray, "FAN_IN", 2)  # parts are added up on the nodes, too
    came: list[int] = []

    def loses_a_node(
        job: IndexingJob, left: Sequence[Piece], reading: Callable[[int], None]
    ) -> Iterator[tuple[list[int], IndexPart]]:
        for numbers, part in run_ray(job, left, reading, workers=2):
            if not came:
                cluster.remove_node(second, allow_graceful=False)
            came.append(len(numbers))
            yield numbers, part

    assert whole(pieces, loses_a_node, tmp_path / "kept") == one
    assert sum(came) == len(pieces)
    assert came[0] < len(pieces) / 2  # it was lost in the middle
    cluster.wait_for_nodes(timeout=30)  # what the cluster tells of a lost node comes later
    assert sum(node["Alive"] for node in ray.nodes()) == 1


@pytest.mark.usefixtures("cluster")
def test_what_a_node_lacks_is_said_in_a_sentence(pieces: tuple[Piece, ...], tmp_path: Path) -> None:
    away = replace(pieces[0], path=tmp_path / "away" / "one.txt")
    with pytest.raises(ClusterError, match=r"it has no folder .*away: all nodes must see"):
        list(run_ray(JOB, [away], print, workers=1))
    here = [pieces[0].path]
    assert wrong_here(JOB, __version__, here) == ""
    assert "the work comes from ffnviz 99" in wrong_here(JOB, "99", here)
    assert "the network nobody does not open" in wrong_here(
        IndexingJob("nobody"), __version__, here
    )
    nowhere = Stored(Address("s3://books?endpoint_override=127.0.0.1:9&region=x"), "books/a.txt", 1)
    assert wrong_here(JOB, __version__, [*here, nowhere]) == "s3://books: nobody answers there"


@pytest.mark.usefixtures("cluster")
def test_more_than_the_cluster_has_is_refused_and_not_waited_for() -> None:
    with pytest.raises(ClusterError, match=r"there is room for 1.* Give --workers 1"):
        check_places(2, 1, 0)
    with pytest.raises(ClusterError, match=r"1 core and 1 GPU each do not fit: .* room for 0"):
        check_places(1, 1, 1)


@pytest.mark.usefixtures("cluster")
def test_ray_is_told_to_report_nothing_to_its_makers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    assert usage_stats_enabled()
    with joined():
        assert not usage_stats_enabled()


def test_without_ray_or_a_cluster_it_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    for address in ("127.0.0.1:9", "nowhere", "ray://127.0.0.1:10001"):
        said = rf"--address {address}: no Ray cluster answers"
        with pytest.raises(ClusterError, match=said), joined(address):
            pass
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match=re.escape(install("ray"))), joined():
        pass
