#!lua
-- One step of one game, whole or not at all. The first line, naming no flags, makes Redis itself refuse the script when its
-- memory is short, its disk failed or it is a replica: before the script begins, hence before anything is written.
--
-- Every step counts up how many have landed under its epoch, and says how many its sender knows of: a server that came back
-- without some of them gives itself away, before anything is written on top.
--
-- KEYS  owner, heads, cursors, record, then the streams posted to
-- ARGV  game, epoch, expected head, new head, id the record must end at, number of record entries, of posts, of cursors,
--       steps that the sender knows to have landed under this epoch;
--       record entries: id type from game n body; posts: which key, id, type from game n body; cursors: stream id
-- Returns a verdict and its detail; where it landed, how many steps have by now.

local game, epoch, expected, head, ending = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local records, posts, cursors, known = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local first_post = 10 + records * 6
local first_cursor = first_post + posts * 7

local owner = redis.pcall('HMGET', KEYS[1], 'epoch', 'steps')
if owner.err then return {'refused', KEYS[1] .. ' holds no hash'} end
if owner[1] ~= epoch then return {'epoch', owner[1] or ''} end
local steps = tonumber(owner[2] or '0')
if steps < known then return {'behind', string.format('%.0f', steps)} end

local stored = redis.pcall('HGET', KEYS[2], game)
if type(stored) == 'table' then return {'refused', KEYS[2] .. ' holds no hash'} end
stored = stored or ''
if records > 0 and stored == head then return {'landed', string.format('%.0f', steps)} end
if stored ~= expected then return {'head', stored} end

if cursors > 0 then
  local kind = redis.call('TYPE', KEYS[3]).ok
  if kind ~= 'none' and kind ~= 'hash' then return {'refused', KEYS[3] .. ' holds no hash'} end
end

if records > 0 then
  local last, info = '0-0', redis.pcall('XINFO', 'STREAM', KEYS[4])
  if info.err then
    if not info.err:find('no such key', 1, true) then return {'refused', KEYS[4] .. ' holds no stream'} end
  else
    for i = 1, #info, 2 do
      if info[i] == 'last-generated-id' then last = info[i + 1] break end
    end
  end
  if last ~= ending then return {'order', KEYS[4] .. ' ends at ' .. last .. ', this step goes on after ' .. ending} end
end

local seen = {}
for at = first_post, first_cursor - 1, 7 do
  local key, id = KEYS[tonumber(ARGV[at])], ARGV[at + 1]
  if not seen[key] then
    seen[key] = true
    local kind = redis.call('TYPE', key).ok
    if kind == 'stream' then
      local there = id ~= '' and redis.call('XRANGE', key, id, '+', 'COUNT', '1')[1]
      if there then return {'order', key .. ' holds ' .. there[1] .. ', this step posts ' .. id} end
    elseif kind ~= 'none' then
      return {'refused', key .. ' holds no stream'}
    end
  end
end

-- All that may still refuse an id is a stream whose end belongs to a newer epoch, or was deleted: only a house whose owner
-- was lost has those. Then take back what was posted. The record, whose end is known for certain, comes last.
local any = epoch .. '-*'
local posted = {}
for at = first_post, first_cursor - 1, 7 do
  local key, id = KEYS[tonumber(ARGV[at])], ARGV[at + 1]
  local added = redis.pcall('XADD', key, id == '' and any or id, 'type', ARGV[at + 2], 'from', ARGV[at + 3],
    'game', ARGV[at + 4], 'n', ARGV[at + 5], 'body', ARGV[at + 6])
  if type(added) == 'table' then
    for i = 1, #posted, 2 do redis.call('XDEL', posted[i], posted[i + 1]) end
    return {'order', key .. ' has passed ' .. (id == '' and any or id)}
  end
  posted[#posted + 1] = key
  posted[#posted + 1] = added
end

for n = 1, records do
  local at = 10 + (n - 1) * 6
  if n < records then
    redis.call('XADD', KEYS[4], ARGV[at], 'type', ARGV[at + 1], 'from', ARGV[at + 2], 'game', ARGV[at + 3],
      'n', ARGV[at + 4], 'body', ARGV[at + 5])
  else
    redis.call('XADD', KEYS[4], ARGV[at], 'type', ARGV[at + 1], 'from', ARGV[at + 2], 'game', ARGV[at + 3],
      'n', ARGV[at + 4], 'body', ARGV[at + 5], 'head', head)
  end
end
if records > 0 then redis.call('HSET', KEYS[2], game, head) end
for at = first_cursor, #ARGV, 2 do redis.call('HSET', KEYS[3], ARGV[at], ARGV[at + 1]) end
return {'landed', string.format('%.0f', redis.call('HINCRBY', KEYS[1], 'steps', 1))}
