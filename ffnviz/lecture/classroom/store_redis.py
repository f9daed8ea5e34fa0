"""Classes kept in Redis, for servers on several machines.

A class is a few keys that all expire three hours after its last action. What must not be torn apart
is one script, which Redis runs while it serves nobody else; every change publishes the class's
code, so nobody has to poll. Clocks of servers may differ: the time is Redis's own. `ClassStore`
says what the methods do.
"""

# ruff: noqa: D102

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from redis import Redis
from redis import asyncio as waiting
from redis.backoff import ConstantBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from ffnviz.lecture.classroom import live_class
from ffnviz.lecture.classroom.live_class import MOST_PEOPLE

CHANNEL = "ffnviz:changed"  # the codes of classes that have changed
# Of a class: a hash of its fields; when each student was last seen; answers by scene and student,
# and their numbers by scene and option; the revealed scenes; sentences by number, the number of
# each student's, and the numbers of those that are not on the wall.
KEYS = ("class", "people", "votes", "counts", "revealed", "said", "sayers", "hidden")
OVER, FULL, STRANGER, STALE, LATE = "over", "full", "stranger", "stale", "late"

CLOCK = """
local function now()
  local time = redis.call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end
"""
COUNT_PEOPLE = CLOCK + "return redis.call('ZCOUNT', KEYS[1], now() - ARGV[1], '+inf')"
PRELUDE = f"""{CLOCK}
local class, people, votes, counts, revealed, said, sayers, hidden = unpack(KEYS)
local call = redis.call
local function publish()
  call('HINCRBY', class, 'revision', 1)
  call('PUBLISH', '{CHANNEL}', call('HGET', class, 'code'))
end
local function touch()
  publish()
  for _, key in ipairs(KEYS) do call('PEXPIRE', key, {int(live_class.LIVES_S * 1_000)}) end
end
local function count_people(away)
  return call('ZCOUNT', people, now() - away, '+inf')
end
local function is_stranger(who)
  return not call('ZSCORE', people, who)
end
"""
OPEN_ONLY = f"if call('EXISTS', class) == 0 then return '{OVER}' end"

BODIES = {
    "move": """
if call('HGET', class, 'place') == ARGV[1]
  and (not ARGV[2] or call('HGET', class, 'lecture') == ARGV[2]) then return end
call('HSET', class, 'place', ARGV[1])
if ARGV[2] then call('HSET', class, 'lecture', ARGV[2]) end
call('HINCRBY', class, 'moved', 1)
touch()
""",
    "reveal": """
call('SADD', revealed, ARGV[1])
touch()
""",
    "hide": """
if call('HEXISTS', said, ARGV[1]) == 1 then
  call(ARGV[2] == '1' and 'SADD' or 'SREM', hidden, ARGV[1])
end
touch()
""",
    "end": """
publish()
call('DEL', unpack(KEYS))
""",
    "set_door": """
call('HSET', class, 'closed', ARGV[1])
touch()
""",
    "remove_all": """
call('HINCRBY', class, 'lists', 1)
call('DEL', people, votes, counts, said, sayers, hidden)
touch()
""",
    "come": f"""
if (call('HGET', class, 'lists') or '0') ~= ARGV[4] then return '{STALE}' end
local seen = call('ZSCORE', people, ARGV[3])
local is_new = not seen or tonumber(seen) < now() - ARGV[1]
if is_new and count_people(ARGV[1]) >= tonumber(ARGV[2]) then return '{FULL}' end
call('ZADD', people, now(), ARGV[3])
call('PEXPIRE', people, call('PTTL', class))
if is_new then publish() end
""",
    "see": """
local before = count_people(ARGV[1])
local seen = ARGV[2] == '1' and now() or 0
for place = 3, #ARGV do call('ZADD', people, 'XX', seen, ARGV[place]) end
if count_people(ARGV[1]) ~= before then publish() end
""",
    "vote": f"""
if is_stranger(ARGV[1]) then return '{STRANGER}' end
if ARGV[3] == '-1' or call('SISMEMBER', revealed, ARGV[2]) == 1 then return '{LATE}' end
local answered = ARGV[2] .. ':' .. ARGV[1]
local before = call('HGET', votes, answered)
if before then call('HINCRBY', counts, ARGV[2] .. ':' .. before, -1) end
call('HINCRBY', counts, ARGV[2] .. ':' .. ARGV[3], 1)
call('HSET', votes, answered, ARGV[3])
touch()
""",
    "say": f"""
if is_stranger(ARGV[1]) then return '{STRANGER}' end
local before = call('HGET', sayers, ARGV[1])
if before then
  call('HDEL', said, before)
  call('SREM', hidden, before)
  call('HDEL', sayers, ARGV[1])
end
if ARGV[2] ~= '' then
  local number = call('HINCRBY', class, 'said', 1)
  call('HSET', said, number, ARGV[2])
  call('HSET', sayers, ARGV[1], number)
  call('SADD', hidden, number)
end
touch()
""",
}
OPEN = """
if call('HSETNX', class, 'code', ARGV[1]) == 0 then return 0 end
call('HSET', class, 'secret', ARGV[2], 'place', ARGV[3], 'lecture', ARGV[4])
call('HSET', class, 'revision', 1, 'moved', 0)
touch()
return 1
"""
SCRIPTS = {"open": PRELUDE + OPEN} | {
    name: PRELUDE + OPEN_ONLY + lua for name, lua in BODIES.items()
}


PATIENCE_S = 2.0  # for an answer
AGAIN_S = 1.0  # between two tries to listen
LISTEN_S = 30.0  # without a change, until Redis is asked whether it is still there


class RedisStore:
    """The classes of one Redis."""

    def __init__(self, url: str) -> None:
        """Connects to nothing yet; raises ClassStoreError if that is no address of a Redis."""
        self.url = url
        # Without its password, for messages.
        self.where = url.rpartition("@")[2].rpartition("://")[2].partition("?")[0]
        self._settings: dict[str, Any] = {
            "decode_responses": True,
            "socket_timeout": PATIENCE_S,
            "socket_connect_timeout": PATIENCE_S,
            "health_check_interval": LISTEN_S,
        }
        once_more = Retry(ConstantBackoff(0.1), 1)
        try:
            self._redis: Any = Redis.from_url(url, retry=once_more, **self._settings)
        except (ValueError, TypeError) as error:
            raise live_class.ClassStoreError(
                f"{self.where} is not the address of a Redis server ({error}). "
                "An example is redis://localhost:6379."
            ) from error
        self._scripts = {name: self._redis.register_script(lua) for name, lua in SCRIPTS.items()}

    def ready(self) -> None:
        with self._reached() as redis:
            redis.set("ffnviz:ready", 1, px=1)

    def open(self, lecture: str) -> live_class.Opened:
        while True:
            opened = live_class.Opened.new()
            fields = (opened.code, live_class.sum_of(opened.secret), live_class.NOWHERE, lecture)
            with self._reached():
                if self._scripts["open"](keys=[*_keys(opened.code).values()], args=fields):
                    return opened

    def sweep(self) -> None:
        """Does nothing, as Redis itself deletes classes that are over."""

    def course(self, code: str) -> live_class.LiveClass:
        keys = _keys(code)
        with self._reached() as redis, redis.pipeline() as all_at_once:
            all_at_once.hmget(keys["class"], "revision", "moved", "place", "closed", "lists")
            all_at_once.hgetall(keys["counts"])
            all_at_once.smembers(keys["revealed"])
            all_at_once.hlen(keys["said"])
            all_at_once.scard(keys["hidden"])
            all_at_once.eval(COUNT_PEOPLE, 1, keys["people"], live_class.AWAY_AFTER_S)
            (revision, moved, place, closed, lists), votes, revealed, said, hidden, people = (
                all_at_once.execute()
            )
        if revision is None:
            raise live_class.NoSuchClassError
        counts = live_class.counted([*map(int, at.split(":")), int(n)] for at, n in votes.items())
        return live_class.LiveClass(
            code,
            revision=int(revision),
            moved=int(moved),
            place=live_class.ClassPosition.from_text(place),
            revealed=frozenset(map(int, revealed)),
            counts=counts,
            people=int(people),
            sentences=said - hidden,
            closed=closed == "1",
            waiting=hidden,
            lists=int(lists or 0),
        )

    def lecture(self, code: str) -> str:
        return self._field(code, "lecture")

    def is_lecturer(self, code: str, secret: str) -> bool:
        return live_class.is_secret(secret, self._field(code, "secret"))

    def move(
        self, code: str, secret: str, place: live_class.ClassPosition, lecture: str | None = None
    ) -> None:
        new_lecture = () if lecture is None else (lecture,)
        self._do_as_lecturer("move", code, secret, place.to_text(), *new_lecture)

    def reveal(self, code: str, secret: str, scene: int) -> None:
        self._do_as_lecturer("reveal", code, secret, scene)

    def hide(self, code: str, secret: str, number: int, hidden: bool = True) -> None:
        self._do_as_lecturer("hide", code, secret, number, int(hidden))

    def end(self, code: str, secret: str) -> None:
        self._do_as_lecturer("end", code, secret)

    def set_door(self, code: str, secret: str, closed: bool) -> None:
        self._do_as_lecturer("set_door", code, secret, int(closed))

    def remove_all(self, code: str, secret: str) -> None:
        self._do_as_lecturer("remove_all", code, secret)

    def ticket(self, code: str, student: str) -> str:
        secret_hash, _, lists, _ = self._door(code, student)
        return live_class.ticket_of(secret_hash, lists, student)

    def come(
        self, code: str, student: str, ticket: str, admit: Callable[[], None] = lambda: None
    ) -> None:
        secret_hash, closed, lists, known = self._door(code, student)
        live_class.pass_door(student, ticket, secret_hash, (closed, lists), known, admit)
        self._do("come", code, live_class.AWAY_AFTER_S, MOST_PEOPLE, student, lists)

    def stay(self, code: str, students: Iterable[str]) -> None:
        self._do("see", code, live_class.AWAY_AFTER_S, 1, *students)

    def leave(self, code: str, student: str) -> None:
        self._do("see", code, live_class.AWAY_AFTER_S, 0, student)

    def _door(self, code: str, student: str) -> tuple[str, bool, int, bool]:
        """The hash of the secret, whether the door is closed, lists, and whether `student` came."""
        keys = _keys(code)
        with self._reached() as redis, redis.pipeline() as all_at_once:
            all_at_once.hmget(keys["class"], "secret", "closed", "lists")
            all_at_once.zscore(keys["people"], student)
            (secret_hash, closed, lists), seen = all_at_once.execute()
        if secret_hash is None:
            raise live_class.NoSuchClassError
        return str(secret_hash), closed == "1", int(lists or 0), seen is not None

    def vote(self, code: str, student: str, scene: int, option: int) -> bool:
        if not 0 <= option < live_class.MOST_OPTIONS:
            option = -1  # not refused here, as a stranger is to be refused first
        return self._do("vote", code, student, scene, option) != LATE

    def say(self, code: str, student: str, text: str) -> None:
        self._do("say", code, student, live_class.sentence_text(text))

    def sentences(self, code: str) -> list[live_class.Sentence]:
        keys = _keys(code)
        with self._reached() as redis, redis.pipeline() as all_at_once:
            all_at_once.exists(keys["class"])
            all_at_once.hgetall(keys["said"])
            all_at_once.smembers(keys["hidden"])
            exists, said, hidden = all_at_once.execute()
        if not exists:
            raise live_class.NoSuchClassError
        numbered = sorted((int(number), text) for number, text in said.items())
        return [
            live_class.Sentence(number, text, str(number) in hidden) for number, text in numbered
        ]

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
            raise live_class.ClassStoreError(
                f"Redis at {self.where} cannot be used ({error})."
            ) from error

    def _field(self, code: str, name: str) -> str:
        with self._reached() as redis:
            value = redis.hget(_keys(code)["class"], name)
        if value is None:
            raise live_class.NoSuchClassError
        return str(value)

    def _do_as_lecturer(self, name: str, code: str, secret: str, *args: str | float) -> None:
        live_class.check_lecturer(secret, self._field(code, "secret"))
        self._do(name, code, *args)

    def _do(self, name: str, code: str, *args: str | float) -> object:
        with self._reached():
            outcome = self._scripts[name](keys=[*_keys(code).values()], args=args)
        if outcome == OVER:
            raise live_class.NoSuchClassError
        if outcome == FULL:
            raise live_class.FullClassError
        if outcome == STALE:
            raise live_class.TicketError
        if outcome == STRANGER:
            raise live_class.NoSuchClassError(live_class.MUST_FOLLOW)
        return outcome


def _keys(code: str) -> dict[str, str]:
    """The keys of a class, by name; the code in braces keeps them on one node of a cluster."""
    return {name: f"ffnviz:{{{code}}}:{name}" for name in KEYS}
