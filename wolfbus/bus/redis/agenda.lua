#!lua
-- The games of an agenda that several workers share: each is put on it once, and finished once.
--
-- KEYS  agenda: a stream of games with one consumer group · known: a set of the games that were put on it · done: a hash
--       of game to who finished it · results: a stream of what came of games ·
--       lease: ms for which a worker may be silent, as the first of them said · houses: a hash of game to who plays
--       it, of GAME:progress to how far it had come when that one began, of GAME:begun to how often it was begun since it
--       got any further, and of GAME:passed to who left it to others ·
--       workers: a sorted set of when each was last heard, in ms · waiting: stands while nobody counts as dead
-- ARGV  post GAME… | again GAME… | lease MS | take WHO COUNT MS | begin WHO ENTRY GAME PROGRESS |
--       renew WHO ENTRY… | give_back WHO ENTRY | pass_on WHO ENTRY GAME | leave WHO | finish ENTRY GAME WHO RESULT |
--       drop ENTRY WHY | say WHAT
-- Returns how many games are new; the lease that holds; of each game taken its entry, the game, how often others began it
-- since it last got any further, who began it last, and how far it had come then; of each entry that WHO no longer holds
-- the entry and who holds it, '' for nobody; WHO, where an entry was given back or passed on to somebody, and who has
-- what was to be passed on already; or who finished the game, first of all. Nothing where there is no agenda any more.
-- Whatever stands on a key may be anybody's: what cannot be an entry of ours is dropped.

local agenda, known, done, results, lease, houses, workers, waiting, act =
  KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8], ARGV[1]
local group = 'workers'
-- Who dies before it begins a game was hardly killed by that game; but this often it may have been.
local most_unbegun = 10
local released_ms = 86400000 -- idle time of what was given back, so that whoever looks next takes it

if act == 'post' or act == 'again' then
  local new = 0
  local made = redis.pcall('XGROUP', 'CREATE', agenda, group, '0', 'MKSTREAM')
  if made.err and not made.err:find('BUSYGROUP') then return made end
  for place = 2, #ARGV do
    if redis.call('SADD', known, ARGV[place]) == 1 or act == 'again' then
      redis.call('HDEL', done, ARGV[place])
      redis.call('XADD', agenda, '*', 'game', ARGV[place])
      new = new + 1
    end
  end
  return new
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

-- Returns who was heard within two leases, WHO now included. Where nobody was for a whole one, the server was away
-- rather than all workers dead: each has that time once more.
local function look_around(who, lease_ms)
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local last = redis.call('ZRANGE', workers, -1, -1, 'WITHSCORES')[2]
  if last and lease_ms > 0 and now - last >= lease_ms then redis.call('SET', waiting, '1', 'PX', lease_ms) end
  -- a clock that was set back makes no lease longer than it is: nobody was heard, and took nothing, later than now
  if last and tonumber(last) > now then
    for _, name in ipairs(redis.call('ZRANGEBYSCORE', workers, now, '+inf')) do redis.call('ZADD', workers, now, name) end
    for _, held in ipairs(redis.call('XPENDING', agenda, group, '-', '+', 100000)) do
      if held[3] == 0 then redis.call('XCLAIM', agenda, group, held[2], 0, held[1], 'JUSTID') end
    end
    if lease_ms > 0 then redis.call('PEXPIRE', waiting, lease_ms) end
  end
  redis.call('ZADD', workers, now, who)
  redis.call('ZREMRANGEBYSCORE', workers, '-inf', now - released_ms)
  return redis.call('ZRANGEBYSCORE', workers, now - 2 * lease_ms, '+inf')
end

local function agreed_ms() return tonumber(redis.call('GET', lease) or '') or 1 end

local function passers_of(game) return redis.call('HGET', houses, game .. ':passed') or '' end

-- Whether somebody is among those who have passed a game on: names, each with a blank behind it.
local function has_passed(who, passers) return (' ' .. passers):find(' ' .. who .. ' ', 1, true) ~= nil end

-- Whether somebody was heard who has not passed a game on.
local function others_may(names, passers)
  for _, name in ipairs(names) do
    if not has_passed(name, passers) then return true end
  end
  return false
end

local function give_back(who, id)
  local entry = redis.call('XRANGE', agenda, id, id)[1]
  if entry then redis.call('HDEL', houses, entry[2][2] .. ':begun') end
  redis.call('XCLAIM', agenda, group, who, 0, id, 'IDLE', released_ms, 'RETRYCOUNT', 0, 'JUSTID')
end

if act == 'take' then
  local who, count, lease_ms = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
  local names, taken = look_around(who, lease_ms), {}
  -- until then only what was given back is anybody's
  if redis.call('EXISTS', waiting) == 1 then lease_ms = released_ms / 2 end

  local function take(entry)
    local id, game = entry[1], entry[2][2]
    local passers = passers_of(game)
    if redis.call('HEXISTS', done, game) == 1 then
      -- put there a second time
      drop(id)
    elseif has_passed(who, passers) and others_may(names, passers) then
      give_back(who, id)
    else
      local times = redis.call('XPENDING', agenda, group, id, id, 1)[1][4] - 1
      if times < most_unbegun then times = tonumber(redis.call('HGET', houses, game .. ':begun') or '') or 0 end
      local progress = tonumber(redis.call('HGET', houses, game .. ':progress') or '') or 0
      taken[#taken + 1] = {id, game, times, redis.call('HGET', houses, game) or '', progress}
    end
  end

  local cursor = '0-0'
  repeat
    local claimed = redis.call('XAUTOCLAIM', agenda, group, who, lease_ms, cursor, 'COUNT', count - #taken)
    cursor = claimed[1]
    for _, entry in ipairs(claimed[2]) do take(entry) end
  until cursor == '0-0' or #taken == count
  if #taken < count then
    local read = redis.call('XREADGROUP', 'GROUP', group, who, 'COUNT', count - #taken, 'STREAMS', agenda, '>')
    for _, entry in ipairs(read and read[1][2] or {}) do take(entry) end
  end
  return taken
end

if act == 'begin' then
  local who, id, game, progress = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
  -- another may have taken it meanwhile
  if #redis.call('XPENDING', agenda, group, id, id, 1, who) == 0 then return '' end
  local before = tonumber(redis.call('HGET', houses, game .. ':progress') or '') or 0
  local begun = tonumber(redis.call('HGET', houses, game .. ':begun') or '') or 0
  -- said again after a break, it counts once
  if begun == 0 or redis.call('HGET', houses, game) ~= who then begun = begun + 1 end
  if tonumber(progress) > before then
    redis.call('XCLAIM', agenda, group, who, 0, id, 'RETRYCOUNT', 1, 'JUSTID')
    begun = 1
  end
  redis.call('HSET', houses, game, who, game .. ':progress', progress, game .. ':begun', begun)
  return who
end

if act == 'renew' then
  local who, lost = ARGV[2], {}
  look_around(who, agreed_ms())
  for place = 3, #ARGV do
    local id = ARGV[place]
    local held = redis.call('XPENDING', agenda, group, id, id, 1)[1]
    if held and held[2] == who then
      redis.call('XCLAIM', agenda, group, who, 0, id, 'JUSTID')
    else
      lost[#lost + 1] = {id, held and held[2] or ''}
    end
  end
  return lost
end

if act == 'give_back' or act == 'pass_on' then
  local who, id, game = ARGV[2], ARGV[3], ARGV[4]
  local held = redis.call('XPENDING', agenda, group, id, id, 1)[1]
  local holder = held and held[2] or ''
  -- whoever has taken it meanwhile plays it
  if holder ~= who then return act == 'pass_on' and holder or '' end
  if act == 'pass_on' then
    local passers = passers_of(game)
    if not has_passed(who, passers) then
      passers = passers .. who .. ' '
      redis.call('HSET', houses, game .. ':passed', passers)
    end
    if not others_may(look_around(who, agreed_ms()), passers) then return '' end
  end
  give_back(who, id)
  return who
end

if act == 'leave' then
  local who = ARGV[2]
  redis.call('ZREM', workers, who)
  -- what it gave back is its own until somebody takes it
  if #redis.call('XPENDING', agenda, group, '-', '+', 1, who) == 1 then return '' end
  redis.call('XGROUP', 'DELCONSUMER', agenda, group, who)
  return who
end

local entry, game, who, result = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', done, game, who) == 1 then
  redis.call('XADD', results, '*', 'game', game, 'who', who, 'result', result)
end
drop(entry)
return redis.call('HGET', done, game)
