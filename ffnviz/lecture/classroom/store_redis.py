"""Classes kept in Redis, for servers on several machines.

A class is a few keys that all expire three hours after its last action. What must not be torn apart
is one script, which Redis runs while nobody else is served; whoever changes a class publishes its
code, so nobody has to ask. Clocks of servers may differ: the time is Redis's own.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from redis import Redis
from redis import asyncio as waiting
from redis.backoff import ConstantBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from ffnviz.lecture.classroom.door import FullClassError, TicketError, pass_door, ticket_of
from ffnviz.lecture.classroom.errors import ClassStoreError, class_is_over, must_follow_first
from ffnviz.lecture.classroom.limits import AWAY_AFTER_S, MOST_OPTIONS, MOST_PEOPLE, sentence_text
from ffnviz.lecture.classroom.live_class import NOWHERE, ClassPosition, LiveClass, Sentence, counted
from ffnviz.lecture.classroom.redis_scripts import (
    CHANNEL,
    FULL,
    KEYS,
    OVER,
    SCRIPTS,
    STALE,
    STRANGER,
    THERE,
)
from ffnviz.lecture.classroom.secret import Opened, check_lecturer, is_secret, sum_of

PATIENCE_S = 2.0  # for an answer
AGAIN_S = 1.0  # between two tries to listen
LISTEN_S = 30.0  # without a change; then it is seen that Redis is still there


class RedisStore:
    """The classes of one Redis."""

    def __init__(self, url: str) -> None:
        """Nothing is reached yet.

        Raises:
            ClassStoreError: if that is no address of a Redis.
        """
        self.url = url
        # No password in a message.
        self.where = url.rpartition("@")[2].rpartition("://")[2].partition("?")[0]
        settings: dict[str, Any] = {
            "decode_responses": True,
            "socket_timeout": PATIENCE_S,
            "socket_connect_timeout": PATIENCE_S,
            "health_check_interval": LISTEN_S,
        }
        once_more = Retry(ConstantBackoff(0.1), 1)
        try:
            self._redis: Any = Redis.from_url(url, retry=once_more, **settings)
            self._settings = settings
        except (ValueError, TypeError) as error:
            raise ClassStoreError(
                f"{self.where} is no address of a Redis ({error}). One is redis://localhost:6379."
            ) from error
        self._scripts = {name: self._redis.register_script(lua) for name, lua in SCRIPTS.items()}

    def ready(self) -> None:
        """Check that Redis can be read and written."""
        with self._reached() as redis:
            redis.set("ffnviz:ready", 1, px=1)

    def open(self, lecture: str) -> Opened:
        """A new class, which is shown this lecture (the text of its file)."""
        while True:
            opened = Opened.new()
            given = (opened.code, sum_of(opened.secret), NOWHERE, lecture)
            with self._reached():
                if self._scripts["open"](keys=_keys(opened.code), args=given):
                    return opened

    def sweep(self) -> None:
        """Nothing is left of classes that are over: Redis itself sees to that."""

    def course(self, code: str) -> LiveClass:
        """The class as it is now."""
        keys = dict(zip(KEYS, _keys(code), strict=True))
        with self._reached() as redis, redis.pipeline() as all_at_once:
            all_at_once.hmget(keys["class"], "revision", "moved", "place", "closed", "lists")
            all_at_once.hgetall(keys["counts"])
            all_at_once.smembers(keys["revealed"])
            all_at_once.hlen(keys["said"])
            all_at_once.scard(keys["hidden"])
            all_at_once.eval(THERE, 1, keys["people"], AWAY_AFTER_S)
            (revision, moved, place, closed, lists), votes, revealed, said, hidden, people = (
                all_at_once.execute()
            )
        if revision is None:
            raise class_is_over()
        return LiveClass(
            code,
            int(revision),
            int(moved),
            ClassPosition.from_text(place),
            frozenset(map(int, revealed)),
            counted([*map(int, at.split(":")), int(n)] for at, n in votes.items()),
            int(people),
            said - hidden,
            closed == "1",
            int(lists or 0),
        )

    def lecture(self, code: str) -> str:
        """The text of its lecture's file."""
        return self._field(code, "lecture")

    def is_lecturer(self, code: str, secret: str) -> bool:
        """Whether the secret is the class's."""
        return is_secret(secret, self._field(code, "secret"))

    def move(
        self, code: str, secret: str, place: ClassPosition, lecture: str | None = None
    ) -> None:
        """The lecturer is elsewhere, and perhaps in another lecture."""
        self._lecturer_only(code, secret)
        self._do("move", code, place.to_text(), *([] if lecture is None else [lecture]))

    def reveal(self, code: str, secret: str, scene: int) -> None:
        """The answers to a scene's question are shown."""
        self._lecturer_only(code, secret)
        self._do("reveal", code, scene)

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        """A student's sentence is hidden, or shown again."""
        self._lecturer_only(code, secret)
        self._do("hide", code, number, int(hidden))

    def end(self, code: str, secret: str) -> None:
        """The class is over, and gone."""
        self._lecturer_only(code, secret)
        self._do("end", code)

    def set_door(self, code: str, secret: str, closed: bool) -> None:
        """Nobody is let in who was not there before, or everybody is again."""
        self._lecturer_only(code, secret)
        self._do("set_door", code, int(closed))

    def remove_all(self, code: str, secret: str) -> None:
        """Everybody is out, with their answers and sentences; their tickets are worth nothing."""
        self._lecturer_only(code, secret)
        self._do("remove_all", code)

    def ticket(self, code: str, who: str) -> str:
        """What lets a student in; only a page's session hands it out."""
        written, _, lists, _ = self._door(code, who)
        return ticket_of(written, lists, who)

    def come(
        self, code: str, who: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        """A student is there, unless the door is shut to them."""
        written, closed, lists, known = self._door(code, who)
        pass_door(who, ticket, written, (closed, lists), known, admit)
        self._do("come", code, AWAY_AFTER_S, MOST_PEOPLE, who, lists)

    def stay(self, code: str, who: Iterable[str]) -> None:
        """Students who came are still there."""
        self._do("see", code, AWAY_AFTER_S, 1, *who)

    def leave(self, code: str, who: str) -> None:
        """A student who came is there no more, which makes room; they may come back."""
        self._do("see", code, AWAY_AFTER_S, 0, who)

    def _door(self, code: str, who: str) -> tuple[str, bool, int, bool]:
        """What is written of the secret, the door, how often all were removed; who was there."""
        keys = dict(zip(KEYS, _keys(code), strict=True))
        with self._reached() as redis, redis.pipeline() as all_at_once:
            all_at_once.hmget(keys["class"], "secret", "closed", "lists")
            all_at_once.zscore(keys["people"], who)
            (written, closed, lists), seen = all_at_once.execute()
        if written is None:
            raise class_is_over()
        return str(written), closed == "1", int(lists or 0), seen is not None

    def vote(self, code: str, who: str, scene: int, option: int) -> None:
        """A student's answer, which may be changed until all are revealed."""
        if not 0 <= option < MOST_OPTIONS:
            option = -1  # who is a stranger is told so first
        self._do("vote", code, who, scene, option)

    def say(self, code: str, who: str, text: str) -> None:
        """A student's sentence, in the place of an earlier one; an empty one takes it back."""
        self._do("say", code, who, sentence_text(text))

    def sentences(self, code: str) -> list[Sentence]:
        """All that were sent in, in their order."""
        keys = dict(zip(KEYS, _keys(code), strict=True))
        with self._reached() as redis, redis.pipeline() as all_at_once:
            all_at_once.exists(keys["class"])
            all_at_once.hgetall(keys["said"])
            all_at_once.smembers(keys["hidden"])
            there, said, hidden = all_at_once.execute()
        if not there:
            raise class_is_over()
        numbered = sorted((int(number), text) for number, text in said.items())
        return [Sentence(number, text, str(number) in hidden) for number, text in numbered]

    async def changes(self) -> AsyncIterator[str | None]:
        """The code of each class that changes; None where some may have been missed."""
        async with waiting.Redis.from_url(self.url, **self._settings) as redis:
            while True:
                try:
                    async with redis.pubsub(ignore_subscribe_messages=True) as wire:
                        await wire.subscribe(CHANNEL)
                        yield None
                        while True:
                            message = await wire.get_message(timeout=LISTEN_S)
                            if message is not None:
                                yield str(message["data"])
                except RedisError:
                    await asyncio.sleep(AGAIN_S)

    @contextmanager
    def _reached(self) -> Iterator[Any]:
        try:
            yield self._redis
        except RedisError as error:
            raise ClassStoreError(f"Redis at {self.where} cannot be used ({error}).") from error

    def _field(self, code: str, name: str) -> str:
        with self._reached() as redis:
            value = redis.hget(_keys(code)[0], name)
        if value is None:
            raise class_is_over()
        return str(value)

    def _lecturer_only(self, code: str, secret: str) -> None:
        check_lecturer(secret, self._field(code, "secret"))

    def _do(self, name: str, code: str, *args: str | float) -> None:
        with self._reached():
            outcome = self._scripts[name](keys=_keys(code), args=args)
        if outcome == OVER:
            raise class_is_over()
        if outcome == FULL:
            raise FullClassError
        if outcome == STALE:
            raise TicketError
        if outcome == STRANGER:
            raise must_follow_first()


def _keys(code: str) -> list[str]:
    """The keys of a class; what stands in braces keeps them on one node of a cluster."""
    return [f"ffnviz:{{{code}}}:{name}" for name in KEYS]
