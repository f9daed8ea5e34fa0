"""What changes a class in Redis: each script is run as a whole, while Redis serves nobody else."""

from ffnviz.lecture.classroom.limits import LIVES_S

CHANNEL = "ffnviz:changed"  # the codes of classes that have changed
# Of a class: a hash of its fields; who was there when; answers by scene and student, and their
# numbers by scene and option; scenes revealed; sentences by number, whose each is, and the hidden.
KEYS = ("class", "people", "votes", "counts", "revealed", "said", "sayers", "hidden")
OVER, FULL, STRANGER, STALE = "over", "full", "stranger", "stale"

ALL = f"""
local class, people, votes, counts, revealed, said, sayers, hidden = unpack(KEYS)
local call = redis.call
local function live(ms)
  for _, key in ipairs(KEYS) do call('PEXPIRE', key, ms) end
end
local function tell()
  call('HINCRBY', class, 'revision', 1)
  call('PUBLISH', '{CHANNEL}', call('HGET', class, 'code'))
end
local function touch()
  tell()
  live({int(LIVES_S * 1_000)})
end
local function now()
  local time = call('TIME')
  return tonumber(time[1]) + tonumber(time[2]) / 1000000
end
local function there(away)
  return call('ZCOUNT', people, now() - away, '+inf')
end
local function is_stranger(who)
  return not call('ZSCORE', people, who)
end
"""
THERE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
return redis.call('ZCOUNT', KEYS[1], now - ARGV[1], '+inf')
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
tell()
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
if is_new and there(ARGV[1]) >= tonumber(ARGV[2]) then return '{FULL}' end
call('ZADD', people, now(), ARGV[3])
call('PEXPIRE', people, call('PTTL', class))
if is_new then tell() end
""",
    "see": """
local before = there(ARGV[1])
local seen = ARGV[2] == '1' and now() or 0
for place = 3, #ARGV do call('ZADD', people, 'XX', seen, ARGV[place]) end
if there(ARGV[1]) ~= before then tell() end
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
SCRIPTS = {"open": ALL + OPEN} | {name: ALL + OPEN_ONLY + lua for name, lua in BODIES.items()}
