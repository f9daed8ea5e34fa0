"""The scripts that change a class in Redis, which runs each as a whole and serves nobody else."""

from ffnviz.lecture.classroom.limits import LIVES_S

CHANNEL = "ffnviz:changed"  # the codes of classes that have changed
# Of a class: a hash of its fields; when each student was last seen; answers by scene and student,
# and their numbers by scene and option; the revealed scenes; sentences by number, the number of
# each student's, and the numbers of those that are not on the wall.
KEYS = ("class", "people", "votes", "counts", "revealed", "said", "sayers", "hidden")
OVER, FULL, STRANGER, STALE = "over", "full", "stranger", "stale"

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
  for _, key in ipairs(KEYS) do call('PEXPIRE', key, {int(LIVES_S * 1_000)}) end
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
if ARGV[3] == '-1' or call('SISMEMBER', revealed, ARGV[2]) == 1 then return end
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
