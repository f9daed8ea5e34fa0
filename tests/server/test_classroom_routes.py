"""A class over HTTP: what is answered, what is refused, and that wrong codes become slow."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ffnviz.lecture.classroom.hub import Hub
from ffnviz.lecture.classroom.live_class import GONE, ClassStoreError, Opened
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.server.classroom_routes import (
    FREE,
    LONGEST_BODY,
    MOST_WAITING,
    SECRET,
    WrongCodes,
    class_routes,
)
from tests.lecture.class_stores import come, run_alone

ANNA = "a" * 32


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "classes.sqlite")


@pytest.fixture
def opened(store: SqliteStore) -> Opened:
    return store.open("")


@pytest.fixture
def client(store: SqliteStore) -> TestClient:
    return TestClient(Starlette(routes=class_routes(Hub(store))), base_url="http://localhost")


def test_a_link_leads_to_the_page_and_a_wrong_code_is_typed_again(client: TestClient) -> None:
    answer = client.get("/class/k7m-q2x", follow_redirects=False)
    assert answer.headers["location"] == "../?class=K7MQ2X"
    assert "set-cookie" not in answer.headers

    asked = client.get("/class")
    assert asked.status_code == 200
    assert 'name="code"' in asked.text
    assert client.get("/class/", follow_redirects=False).headers["location"] == "../class"
    answer = client.get("/class?code=+k7m+q2x", follow_redirects=False)
    assert answer.headers["location"] == "./?class=K7MQ2X"
    for no_code in ("?code=<b>", "/k%22m"):
        again = client.get(f"/class{no_code}")
        assert again.url.path == "/class"
        assert "type it again" in again.text
        assert "<b>" not in again.text


def test_what_a_student_sends_is_counted_and_kept_and_refused_where_too_long(
    client: TestClient, store: SqliteStore, opened: Opened
) -> None:
    come(store, opened.code, ANNA)
    address, long = f"/class/{opened.code}/sentence", "a " * 251 + "a"  # 503 characters
    answer = client.post(address, json={"who": ANNA, "text": long})
    assert (answer.status_code, store.sentences(opened.code)) == (400, [])
    assert "at most 500 characters" in answer.json()["why"]
    vote = {"who": ANNA, "scene": 2, "option": 1}
    assert client.post(f"/class/{opened.code.lower()}/vote", json=vote).status_code == 204
    say = json.dumps({"who": ANNA, "text": "\ud800 It rained."})  # as a browser may write it
    plain = {"content-type": "application/json; charset=utf-8"}
    assert client.post(address, content=say, headers=plain).status_code == 204
    assert store.course(opened.code).counts[2][1] == 1
    assert store.sentences(opened.code)[0].text == "? It rained."


def test_sentences_come_to_the_lecturer_alone_and_are_let_through(
    client: TestClient, store: SqliteStore, opened: Opened
) -> None:
    come(store, opened.code, ANNA)
    store.say(opened.code, ANNA, "It cost ___.")
    address, mine = f"/class/{opened.code}/sentences", {SECRET: opened.secret}
    assert client.get(address).status_code == 403
    assert client.get(address, headers={SECRET: "x" * 32}).status_code == 403
    [sent] = client.get(address, headers=mine).json()
    assert (sent["text"], sent["hidden"]) == ("It cost [MASK].", True)
    wall = f"/class/{opened.code}/wall"
    assert client.post(wall, json={"number": sent["number"], "hidden": False}).status_code == 403
    for hidden in (False, True):
        asked = {"number": sent["number"], "hidden": hidden}
        assert client.post(wall, json=asked, headers=mine).status_code == 204
        assert [each.hidden for each in store.sentences(opened.code)] == [hidden]


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"content": b"x=1", "headers": {"content-type": "text/plain"}}, 415),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400),
        ({"content": b"[" * 9_000, "headers": {"content-type": "application/json"}}, 413),
        ({"json": []}, 400),
        ({"json": {"who": ANNA}}, 400),
        ({"json": {"who": "x", "scene": 1, "option": 1}}, 400),
        ({"json": {"who": ANNA, "scene": True, "option": 1}}, 400),
        ({"json": {"who": ANNA, "scene": -1, "option": 1}}, 400),
        ({"json": {"who": ANNA, "scene": 1, "option": 10**9}}, 400),
        ({"json": {"who": ANNA, "scene": 1, "option": 1},
          "headers": {"origin": "https://elsewhere.example"}}, 403),
        ({"json": {"who": "z" * 32, "scene": 1, "option": 1}}, 404),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_refused_in_words(
    client: TestClient, opened: Opened, sent: dict[str, object], status: int
) -> None:
    assert LONGEST_BODY < 9_000
    answer = client.post(f"/class/{opened.code}/vote", **sent)  # type: ignore[arg-type]
    assert answer.status_code == status
    assert answer.json()["why"].endswith(".")


def test_only_the_secret_reveals(client: TestClient, store: SqliteStore, opened: Opened) -> None:
    address = f"/class/{opened.code}/reveal"
    for wrong in ({}, {SECRET: "x"}, {SECRET: opened.code}):
        assert client.post(address, json={"scene": 1}, headers=wrong).status_code == 403
    right = {SECRET: opened.secret}
    assert client.post(address, json={"scene": 1}, headers=right).status_code == 204
    assert store.course(opened.code).revealed == {1}
    events = client.get(f"/class/{opened.code}/events", headers={SECRET: "x"})
    assert events.status_code == 403


def test_a_store_that_cannot_be_reached_is_said_in_words(
    client: TestClient, store: SqliteStore, opened: Opened
) -> None:
    def gone(*_: object) -> None:
        raise ClassStoreError("Redis at 10.0.0.7:6379 cannot be used")

    store.vote = gone  # type: ignore[method-assign,assignment]
    vote = {"who": ANNA, "scene": 1, "option": 1}
    answer = client.post(f"/class/{opened.code}/vote", json=vote)
    assert answer.status_code == 503
    assert answer.json()["why"] == GONE  # and not where it is


def test_wrong_codes_become_slow_and_then_are_turned_away() -> None:
    slept: list[float] = []
    now = 0.0
    free = asyncio.Event()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await free.wait()

    wrong = WrongCodes(lambda: now, sleep)

    async def guess() -> None:
        nonlocal now
        assert all([await wrong.was_wrong("a") for _ in range(FREE)])
        assert slept == []
        waiting = [asyncio.ensure_future(wrong.was_wrong("a")) for _ in range(MOST_WAITING)]
        await asyncio.sleep(0)
        assert len(slept) == MOST_WAITING
        assert not await wrong.was_wrong("a")
        assert await wrong.was_wrong("b")  # another address
        free.set()
        assert all(await asyncio.gather(*waiting))
        now = 61
        assert await wrong.was_wrong("a")
        assert len(slept) == MOST_WAITING

    run_alone(guess())


def test_a_right_code_never_waits(client: TestClient, store: SqliteStore, opened: Opened) -> None:
    come(store, opened.code, ANNA)
    vote = {"who": ANNA, "scene": 0, "option": 0}

    def guess(n: int) -> int:
        return client.post(f"/class/22222{n % 8 + 2}/vote", json=vote).status_code

    with ThreadPoolExecutor(FREE + MOST_WAITING + 5) as pool:
        wrong = pool.map(guess, range(FREE + MOST_WAITING + 5))
        assert client.post(f"/class/{opened.code}/vote", json=vote).status_code == 204
        assert set(wrong) <= {404, 429}
