"""A class in its store: who may do what, what is counted, and that nothing is left of it.

Every test here is one of a file and of a Redis, but for what only one of them can have.
"""

import asyncio
import importlib.util
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from ffnviz.lecture.classroom import store_redis, store_sqlite
from ffnviz.lecture.classroom.live_class import (
    LIVES_S,
    LONGEST_SENTENCE,
    SIGNS,
    ClassPosition,
    ClassStoreError,
    ClosedClassError,
    FullClassError,
    NoSuchClassError,
    NotTheLecturerError,
    Opened,
    TicketError,
)
from ffnviz.lecture.classroom.store import ClassStore, store_at
from ffnviz.lecture.classroom.store_redis import RedisStore
from ffnviz.lecture.classroom.store_sqlite import SqliteStore
from ffnviz.models.config import install
from tests.lecture.class_stores import ANNA, BEN, InFile, Kept, come, redis_server, run_alone


@pytest.fixture
def store(kept: Kept) -> ClassStore:
    return kept.store


def test_a_class_is_where_its_lecturer_is(store: ClassStore, opened: Opened) -> None:
    before = store.course(opened.code)
    assert (before.people, before.moved, before.place.page) == (2, 0, "")
    place = ClassPosition("lab", {"text": "It's “so” <b>"}, 3, short=True)
    store.move(opened.code, opened.secret, place)
    after = store.course(opened.code)
    assert after.place == place
    assert after.moved == 1
    assert after.revision > before.revision
    store.move(opened.code, opened.secret, place)  # already there
    assert store.course(opened.code) == after
    assert store.lecture(opened.code) == 'title = "A lecture"'


def test_only_the_secret_makes_a_lecturer(kept: Kept, store: ClassStore, opened: Opened) -> None:
    other = store.open("")
    for wrong in ("", "x", opened.code, other.secret, opened.secret[:-1]):
        assert not store.is_lecturer(opened.code, wrong)
        acts: list[Callable[[], object]] = [
            partial(store.move, opened.code, wrong, ClassPosition("lab")),
            partial(store.reveal, opened.code, wrong, 0),
            partial(store.hide, opened.code, wrong, 1),
            partial(store.set_door, opened.code, wrong, closed=True),
            partial(store.remove_all, opened.code, wrong),
            partial(store.end, opened.code, wrong),
        ]
        for act in acts:
            with pytest.raises(NotTheLecturerError):
                act()
    assert store.is_lecturer(opened.code, opened.secret)
    assert opened.code.encode() in kept.written()
    assert opened.secret.encode() not in kept.written()


def test_answers_are_counted_once_a_student_and_stand_once_they_are_shown(
    store: ClassStore, opened: Opened
) -> None:
    code = opened.code
    assert store.vote(code, ANNA, 4, 1)
    assert store.vote(code, ANNA, 4, 2)  # may be changed
    assert store.vote(code, BEN, 4, 2)
    assert not store.vote(code, BEN, 4, 99)  # there is no such option
    course = store.course(code)
    assert course.counts == {4: [0, 0, 2, 0, 0, 0]}
    assert course.to_event(lecturer=False)["counts"] == {}
    assert course.to_event(lecturer=True)["counts"] == {"4": [0, 0, 2, 0, 0, 0]}
    store.reveal(code, opened.secret, 4)
    assert not store.vote(code, BEN, 4, 0)  # too late
    assert store.course(code).to_event(lecturer=False)["counts"] == {"4": [0, 0, 2, 0, 0, 0]}
    with pytest.raises(NoSuchClassError):
        store.vote(code, "c" * 32, 4, 0)  # of nobody who follows


def test_each_student_has_one_sentence_that_can_be_taken_back_and_hidden(
    store: ClassStore, opened: Opened
) -> None:
    code = opened.code
    store.say(code, ANNA, "  The dog\n slept. ")
    store.say(code, BEN, "'); DROP TABLE class; --")
    store.say(code, ANNA, "x" * 9_999)
    first, second = store.sentences(code)
    assert first.text == "'); DROP TABLE class; --"
    assert second.text == "x" * LONGEST_SENTENCE
    assert [each.hidden for each in store.sentences(code)] == [True, True]  # until let through
    for number in (first.number, second.number):
        store.hide(code, opened.secret, number, hidden=False)
    store.hide(code, opened.secret, first.number)
    assert [each.hidden for each in store.sentences(code)] == [True, False]
    course = store.course(code)
    assert (course.sentences, course.waiting) == (1, 1)
    store.say(code, ANNA, "It cost forty ___.")  # another takes its place: it waits again
    assert [(each.text, each.hidden) for each in store.sentences(code)] == [
        (first.text, True), ("It cost forty [MASK].", True),
    ]  # fmt: skip
    store.say(code, ANNA, " ")
    assert [each.number for each in store.sentences(code)] == [first.number]


def test_a_class_that_is_over_leaves_nothing(kept: Kept, store: ClassStore, opened: Opened) -> None:
    store.vote(opened.code, BEN, 0, 0)
    store.say(opened.code, ANNA, "The secret life of bees.")
    store.end(opened.code, opened.secret)
    for ask in (store.course, store.lecture, store.sentences):
        with pytest.raises(NoSuchClassError):
            ask(opened.code)
    left = kept.written()
    for trace in (b"secret life", ANNA.encode(), opened.code.encode(), b"A lecture"):
        assert trace not in left


def test_what_a_reader_kept_in_the_log_goes_with_the_next_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_sqlite, "BUSY_MS", 50)
    kept = InFile(tmp_path)
    opened = kept.store.open("A lecture")
    come(kept.store, opened.code, ANNA)
    kept.store.say(opened.code, ANNA, "The secret life of bees.")
    with closing(sqlite3.connect(kept.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM class").fetchone()
        kept.store.end(opened.code, opened.secret)
        assert b"secret life" in kept.written()
    kept.store.sweep()
    assert b"secret life" not in kept.written()


def test_a_class_ends_three_hours_after_its_last_act(
    kept: Kept, store: ClassStore, opened: Opened
) -> None:
    kept.pass_time(LIVES_S - 60)
    come(store, opened.code, ANNA)
    store.vote(opened.code, ANNA, 0, 0)
    kept.pass_time(LIVES_S - 60)
    come(store, opened.code, ANNA)  # only to look on is not an action
    store.stay(opened.code, [ANNA])
    store.course(opened.code)
    kept.pass_time(61)
    with pytest.raises(NoSuchClassError):
        store.course(opened.code)
    store.sweep()
    assert ANNA.encode() not in kept.written()


def test_a_class_has_room_for_so_many_and_for_others_when_some_have_gone(
    kept: Kept, store: ClassStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (store_sqlite, store_redis):
        monkeypatch.setattr(module, "MOST_PEOPLE", 100)  # a busy machine takes a minute for all
    code = store.open("").code
    for n in range(100):
        come(store, code, f"{n:032}")
    with pytest.raises(FullClassError):
        come(store, code, ANNA)
    come(store, code, f"{7:032}")  # is there already
    kept.pass_time(40)
    before = store.course(code)
    store.stay(code, [f"{n:032}" for n in range(5)])
    assert store.course(code) == before
    kept.pass_time(21)
    come(store, code, ANNA)
    assert store.course(code).people == 6
    store.stay(code, [f"{9:032}"])  # is back, and all who wait are told
    assert store.course(code).people == 7
    assert store.course(code).revision > before.revision


def test_nobody_comes_without_their_own_ticket(store: ClassStore, opened: Opened) -> None:
    code, other = opened.code, store.open("").code
    stranger = "c" * 32
    for ticket in ("", "é", "0" * 64, store.ticket(code, ANNA), store.ticket(other, stranger)):
        with pytest.raises(TicketError):
            store.come(code, stranger, ticket)
    assert store.course(code).people == 2
    assert len({store.ticket(code, who) for who in (ANNA, BEN, stranger)}) == 3
    store.come(code, stranger, store.ticket(code, stranger))
    assert store.course(code).people == 3


def test_who_leaves_makes_room_and_a_closed_door_lets_in_who_was_there(
    store: ClassStore, opened: Opened
) -> None:
    code, stranger = opened.code, "c" * 32
    store.vote(code, ANNA, 0, 1)
    before = store.course(code)
    store.leave(code, ANNA)
    store.leave(code, stranger)  # who never came
    after = store.course(code)
    assert (after.people, after.counts) == (1, before.counts)
    assert after.revision > before.revision
    come(store, code, ANNA)
    assert store.course(code).people == 2
    store.leave(code, ANNA)
    store.set_door(code, opened.secret, closed=True)
    assert store.course(code).to_event(lecturer=True)["closed"] is True
    with pytest.raises(ClosedClassError, match="closed the door"):
        come(store, code, stranger)
    come(store, code, ANNA)
    store.set_door(code, opened.secret, closed=False)
    assert not store.course(code).closed
    come(store, code, stranger)
    assert store.course(code).people == 3


def test_the_lecturer_removes_all_with_what_they_sent(store: ClassStore, opened: Opened) -> None:
    code = opened.code
    old = store.ticket(code, ANNA)
    store.vote(code, ANNA, 0, 1)
    store.say(code, BEN, "It rained.")
    store.remove_all(code, opened.secret)
    course = store.course(code)
    assert (course.people, course.counts, course.sentences, course.lists) == (0, {}, 0, 1)
    store.stay(code, [ANNA])  # as a server says that has not heard of it yet
    assert store.course(code).people == 0
    with pytest.raises(NoSuchClassError):
        store.vote(code, ANNA, 0, 1)
    with pytest.raises(TicketError):
        store.come(code, ANNA, old)
    come(store, code, ANNA)
    store.say(code, ANNA, "It rained again.")
    assert [each.text for each in store.sentences(code)] == ["It rained again."]


def test_another_process_finds_the_class_and_hears_of_changes(
    kept: Kept, store: ClassStore, opened: Opened
) -> None:
    store.move(opened.code, opened.secret, ClassPosition("lab", {}, 2))
    again = kept.another()
    assert again.course(opened.code) == store.course(opened.code)
    assert again.is_lecturer(opened.code, opened.secret)

    acts: list[Callable[[], object]] = [
        partial(store.move, opened.code, opened.secret, ClassPosition("lab")),
        partial(store.vote, opened.code, ANNA, 0, 1),
        partial(come, store, opened.code, "c" * 32),
        partial(store.end, opened.code, opened.secret),
    ]

    async def listen() -> None:
        heard = kept.another().changes()
        assert await anext(heard) is None  # who begins to listen looks first
        for act in acts:
            await asyncio.to_thread(act)
            assert await anext(heard) in (None, opened.code)

    run_alone(listen())


def test_many_may_answer_at_once(
    store: ClassStore, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would have each try again later and later: of a thousand votes some took seconds."""
    monkeypatch.setattr(store_sqlite, "BUSY_MS", 0)  # so threads take turns without its waiting
    code = opened.code

    def one(n: int) -> None:
        who = f"{n:032}"
        come(store, code, who)
        store.vote(code, who, 0, n % 3)
        store.say(code, who, f"Sentence {n}.")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(one, range(90)))
    assert store.course(code).counts[0][:3] == [30, 30, 30]
    assert len({each.number for each in store.sentences(code)}) == 90


def test_a_file_is_its_users_alone_and_noticed_if_it_cannot_be_written(tmp_path: Path) -> None:
    kept = InFile(tmp_path)
    kept.store.ready()
    assert kept.path.stat().st_mode & 0o077 == 0
    with pytest.raises(ClassStoreError, match="cannot be used"):
        SqliteStore(tmp_path / "nowhere" / "classes.sqlite").ready()
    other = tmp_path / "letter.sqlite"
    other.write_text("This is a letter, and no database. " * 40, encoding="utf-8")
    with pytest.raises(ClassStoreError, match="not a database"):
        SqliteStore(other).ready()
    assert other.read_text(encoding="utf-8").startswith("This is a letter")


def test_what_is_no_store_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(store_at("/tmp/classes.sqlite"), SqliteStore)
    with pytest.raises(ClassStoreError, match="http:// leads to no store"):
        store_at("http://somewhere")
    with pytest.raises(ClassStoreError, match="not the address of a Redis server") as told:
        store_at("redis://me:my-password@here:port")
    assert "my-password" not in str(told.value)
    with pytest.raises(ClassStoreError, match="Redis at localhost:1/0 cannot be used") as told:
        store_at("redis://me:my-password@localhost:1/0").ready()
    assert "my-password" not in str(told.value)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ClassStoreError, match=re.escape(install("redis"))):
        store_at("redis://localhost")


def test_a_redis_that_is_gone_for_a_while_is_used_again(tmp_path: Path) -> None:
    running = ExitStack()
    url = running.enter_context(redis_server(tmp_path))
    store, heard = RedisStore(url), RedisStore(url).changes()

    async def hear_of_a_class() -> None:
        assert await anext(heard) is None
        opened = await asyncio.to_thread(store.open, "")
        assert await anext(heard) == opened.code

    async def go_on() -> None:
        await hear_of_a_class()
        running.close()
        with pytest.raises(ClassStoreError, match="cannot be used"):
            await asyncio.to_thread(store.open, "")
        with redis_server(tmp_path, int(url.rpartition(":")[2])):
            await hear_of_a_class()

    with running:
        run_alone(go_on())
    store._redis.close()  # else it is for the garbage collection to find its socket


def test_codes_are_drawn_from_signs_that_nobody_mistakes() -> None:
    codes = {Opened.new().code for _ in range(20)}
    assert len(codes) == 20
    assert set("".join(codes)) <= set(SIGNS)
    assert not set("IL10O") & set(SIGNS)
