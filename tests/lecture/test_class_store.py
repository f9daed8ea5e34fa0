"""A class in its store: who may do what, what is counted, and that nothing is left of it."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from ffnviz.lecture.classroom.course import (
    LIVES_S,
    LONGEST_SENTENCE,
    MOST_PEOPLE,
    SIGNS,
    FullClassError,
    NoSuchClassError,
    NotTheLecturerError,
    Opened,
    Place,
)
from ffnviz.lecture.classroom.store import ClassStore

ANNA, BEN = "a" * 32, "b" * 32


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> ClassStore:
    return ClassStore(tmp_path / "classes.sqlite", clock)


@pytest.fixture
def opened(store: ClassStore) -> Opened:
    opened = store.open('title = "A lecture"')
    for who in (ANNA, BEN):
        store.come(opened.code, who)
    return opened


def test_a_class_is_where_its_lecturer_is(store: ClassStore, opened: Opened) -> None:
    before = store.course(opened.code)
    assert (before.people, before.moved, before.place.page) == (2, 0, "")
    place = Place("lab", {"text": "It's “so” <b>"}, 3, short=True)
    store.move(opened.code, opened.secret, place)
    after = store.course(opened.code)
    assert after.place == place
    assert after.moved == 1
    assert after.revision > before.revision
    store.move(opened.code, opened.secret, place)  # already there
    assert store.course(opened.code) == after
    assert store.lecture(opened.code) == 'title = "A lecture"'


def test_only_the_secret_makes_a_lecturer(store: ClassStore, opened: Opened) -> None:
    other = store.open("")
    for wrong in ("", "x", opened.code, other.secret, opened.secret[:-1]):
        assert not store.is_lecturer(opened.code, wrong)
        acts: list[Callable[[], None]] = [
            partial(store.move, opened.code, wrong, Place("lab")),
            partial(store.reveal, opened.code, wrong, 0),
            partial(store.hide, opened.code, wrong, 1),
            partial(store.end, opened.code, wrong),
        ]
        for act in acts:
            with pytest.raises(NotTheLecturerError):
                act()
    assert store.is_lecturer(opened.code, opened.secret)
    written = store.path.read_bytes() + store.path.with_name("classes.sqlite-wal").read_bytes()
    assert opened.secret.encode() not in written


def test_answers_are_counted_once_a_student_and_stand_once_they_are_shown(
    store: ClassStore, opened: Opened
) -> None:
    code = opened.code
    store.vote(code, ANNA, 4, 1)
    store.vote(code, ANNA, 4, 2)  # may be changed
    store.vote(code, BEN, 4, 2)
    store.vote(code, BEN, 4, 99)  # there is no such option
    course = store.course(code)
    assert course.counts == {4: [0, 0, 2, 0, 0, 0]}
    assert course.told(lecturer=False)["counts"] == {}
    assert course.told(lecturer=True)["counts"] == {"4": [0, 0, 2, 0, 0, 0]}
    store.reveal(code, opened.secret, 4)
    store.vote(code, BEN, 4, 0)  # too late
    assert store.course(code).told(lecturer=False)["counts"] == {"4": [0, 0, 2, 0, 0, 0]}
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
    store.hide(code, opened.secret, first.number)
    assert [each.hidden for each in store.sentences(code)] == [True, False]
    assert store.course(code).sentences == 1
    store.say(code, ANNA, " ")
    assert [each.number for each in store.sentences(code)] == [first.number]


def test_a_class_that_is_over_is_gone_from_the_file(store: ClassStore, opened: Opened) -> None:
    store.say(opened.code, ANNA, "The secret life of bees.")
    store.end(opened.code, opened.secret)
    for ask in (store.course, store.revision, store.lecture, store.sentences):
        with pytest.raises(NoSuchClassError):
            ask(opened.code)
    left = b"".join(path.read_bytes() for path in store.path.parent.iterdir())
    for trace in (b"secret life", ANNA.encode(), opened.code.encode(), b"A lecture"):
        assert trace not in left


def test_a_class_ends_three_hours_after_the_last_action(
    store: ClassStore, opened: Opened, clock: Clock
) -> None:
    clock.now += LIVES_S - 60
    store.come(opened.code, ANNA)
    store.vote(opened.code, ANNA, 0, 0)
    clock.now += LIVES_S - 60
    store.course(opened.code)
    clock.now += 61
    with pytest.raises(NoSuchClassError):
        store.course(opened.code)
    store.open("")  # whoever opens the next sweeps it out
    codes = sqlite3.connect(store.path).execute("SELECT code FROM vote").fetchall()
    assert codes == []


def test_a_class_has_room_for_so_many_and_for_others_when_some_have_gone(
    store: ClassStore, clock: Clock
) -> None:
    code = store.open("").code
    for n in range(MOST_PEOPLE):
        store.come(code, f"{n:032}")
    with pytest.raises(FullClassError):
        store.come(code, ANNA)
    store.come(code, f"{7:032}")  # is there already
    clock.now += 61
    store.come(code, ANNA)
    assert store.course(code).people == 1


def test_a_server_that_starts_again_finds_the_class(store: ClassStore, opened: Opened) -> None:
    store.move(opened.code, opened.secret, Place("lab", {}, 2))
    again = ClassStore(store.path, store.clock)
    assert again.course(opened.code) == store.course(opened.code)
    assert again.is_lecturer(opened.code, opened.secret)
    assert store.path.stat().st_mode & 0o077 == 0


def test_many_may_answer_at_once(store: ClassStore, opened: Opened) -> None:
    code = opened.code

    def one(n: int) -> None:
        who = f"{n:032}"
        store.come(code, who)
        store.vote(code, who, 0, n % 3)
        store.say(code, who, f"Sentence {n}.")

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(one, range(12)))
    assert store.course(code).counts[0][:3] == [4, 4, 4]
    assert len({each.number for each in store.sentences(code)}) == 12


def test_a_file_that_cannot_be_written_is_noticed_before_anybody_comes(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.Error):
        ClassStore(tmp_path / "nowhere" / "classes.sqlite").ready()
    other = tmp_path / "classes.sqlite"
    other.write_text("This is a letter, and no database. " * 40, encoding="utf-8")
    with pytest.raises(sqlite3.Error):
        ClassStore(other).ready()
    assert other.read_text(encoding="utf-8").startswith("This is a letter")


def test_codes_are_drawn_from_signs_that_nobody_mistakes(store: ClassStore) -> None:
    codes = [store.open("").code for _ in range(20)]
    assert len(set(codes)) == 20
    assert set("".join(codes)) <= set(SIGNS)
    assert not set("IL10O") & set(SIGNS)
