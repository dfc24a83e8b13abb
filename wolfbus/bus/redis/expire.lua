#!lua flags=allow-oom
-- Forget a game's head now, and its record and table after a while. Making room must be possible when memory is full.
--
-- Of a server that came back without its last moments the game may be under way again: whoever knows by which head it
-- ended says so, and a game with another one is left alone.
--
-- KEYS  heads, record, table
-- ARGV  game, head it must have ('' for any), ms until record and table go, 0 for now
-- Returns 1, or 0 if the game has another head; refused WHY.

local stored = redis.pcall('HGET', KEYS[1], ARGV[1])
if type(stored) == 'table' then return redis.error_reply('ERR ' .. KEYS[1] .. ' holds no hash') end
if ARGV[2] ~= '' and stored and stored ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
for at = 2, 3 do
  if ARGV[3] == '0' then redis.call('DEL', KEYS[at]) else redis.call('PEXPIRE', KEYS[at], ARGV[3]) end
end
return 1
