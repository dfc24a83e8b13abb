#!lua
-- The games of an agenda that several workers share: each is put on it once, and finished once.
--
-- KEYS  agenda: a stream of games with one consumer group · known: a set of the games that were put on it · done: a hash
--       of game to who finished it · results: a stream of what came of games ·
--       lease: ms for which a worker may be silent, as the first of them said · houses: a hash of game to who plays
--       it, and of GAME:progress to how far it had come when that one began
-- ARGV  post GAME… | again GAME… | lease MS | take WHO COUNT MS | begin WHO ENTRY GAME PROGRESS |
--       renew WHO ENTRY… | give_back WHO ENTRY | finish ENTRY GAME WHO RESULT | drop ENTRY WHY | say WHAT
-- Returns how many games are new; the lease that holds; of each game taken its entry, the game, how often others took it
-- since it last got any further, who began it last, and how far it had come then; the entries that WHO still holds; or
-- who finished the game, first of all. Nothing where there is no agenda any more. Whatever stands on a key may be anybody's: what cannot be an entry of ours is dropped.

local agenda, known, done, results, lease, houses, act =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[1]
local group = 'workers'
local released_ms = 86400000 -- idle time of what was given back, so that whoever looks next takes it

if act == 'post' then
  local new = 0
  local made = redis.pcall('XGROUP', 'CREATE', agenda, group, '0', 'MKSTREAM')
  if made.err and not made.err:find('BUSYGROUP') then return made end
  for place = 2, #ARGV do
    if redis.call('SADD', known, ARGV[place]) == 1 then
      redis.call('XADD', agenda, '*', 'game', ARGV[place])
      new = new + 1
    end
  end
  return new
end

if act == 'again' then
  for place = 2, #ARGV do
    redis.call('HDEL', done, ARGV[place])
    redis.call('HDEL', houses, ARGV[place], ARGV[place] .. ':progress')
    redis.call('XADD', agenda, '*', 'game', ARGV[place])
  end
  return #ARGV - 1
end

if redis.call('EXISTS', agenda) == 0 then return '' end

if act == 'say' then return redis.call('XADD', results, '*', 'said', ARGV[2]) end

local function drop(entry)
  redis.call('XACK', agenda, group, entry)
  redis.call('XDEL', agenda, entry)
end

if act == 'drop' then
  drop(ARGV[2])
  return redis.call('XADD', results, '*', 'said', ARGV[3])
end

if act == 'lease' then
  local agreed = redis.call('GET', lease) or ''
  if not agreed:find('^[1-9]%d*$') or #agreed > 12 then
    agreed = ARGV[2]
    redis.call('SET', lease, agreed)
  end
  return agreed
end

if act == 'take' then
  local who, count = ARGV[2], tonumber(ARGV[3])
  local entries = redis.call('XAUTOCLAIM', agenda, group, who, ARGV[4], '0-0', 'COUNT', count)[2]
  if #entries < count then
    local read = redis.call('XREADGROUP', 'GROUP', group, who, 'COUNT', count - #entries, 'STREAMS', agenda, '>')
    for _, entry in ipairs(read and read[1][2] or {}) do entries[#entries + 1] = entry end
  end
  local taken = {}
  for _, entry in ipairs(entries) do
    local id, game = entry[1], entry[2][2]
    if redis.call('HEXISTS', done, game) == 1 then
      -- put there a second time
      drop(id)
    else
      local times = redis.call('XPENDING', agenda, group, id, id, 1)[1][4] - 1
      local progress = tonumber(redis.call('HGET', houses, game .. ':progress') or '') or 0
      taken[#taken + 1] = {id, game, times, redis.call('HGET', houses, game) or '', progress}
    end
  end
  return taken
end

if act == 'begin' then
  local who, id, game, progress = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
  -- another may have taken it meanwhile
  if #redis.call('XPENDING', agenda, group, id, id, 1, who) == 0 then return '' end
  local before = tonumber(redis.call('HGET', houses, game .. ':progress') or '') or 0
  if tonumber(progress) > before then
    redis.call('XCLAIM', agenda, group, who, 0, id, 'RETRYCOUNT', 1, 'JUSTID')
  end
  redis.call('HSET', houses, game, who, game .. ':progress', progress)
  return who
end

if act == 'renew' or act == 'give_back' then
  local who, held = ARGV[2], {}
  for place = 3, #ARGV do
    local id = ARGV[place]
    if #redis.call('XPENDING', agenda, group, id, id, 1, who) == 1 then
      if act == 'renew' then
        redis.call('XCLAIM', agenda, group, who, 0, id, 'JUSTID')
      else
        redis.call('XCLAIM', agenda, group, who, 0, id, 'IDLE', released_ms, 'RETRYCOUNT', 0, 'JUSTID')
      end
      held[#held + 1] = id
    end
  end
  return held
end

local entry, game, who, result = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', done, game, who) == 1 then
  redis.call('XADD', results, '*', 'game', game, 'who', who, 'result', result)
end
drop(entry)
return redis.call('HGET', done, game)
