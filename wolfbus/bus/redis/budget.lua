#!lua
-- What several processes may spend together: what is spent and reserved never exceeds a limit.
--
-- KEYS  budget: a hash of limit_NAME ("" for none), spent_NAME, held_NAME, NAME being usd or tokens, and refused: the
--       call that ended it · holding: a hash of what is reserved, "HOLDER KEY" to "USD TOKENS" · holders: those that
--       live, by the time until when that counts, in ms of this server's own clock
-- ARGV  open LIMIT-USD LIMIT-TOKENS SPENT-USD SPENT-TOKENS | reserve HOLDER LEASE KEY USD TOKENS WHAT |
--       settle HOLDER LEASE KEY USD TOKENS | live HOLDER LEASE | look. LEASE in ms; sums are whole numbers
-- Returns a verdict, what is spent, and the call that ended it: done | wait | refused | gone. What a holder had set
-- aside that lives no more counts as spent.

local budget, holding, holders, act, me = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function get(name)
  return redis.call('HGET', budget, name)
end

local function add(name, sum)
  if sum ~= '0' then redis.call('HINCRBY', budget, name, sum) end
end

local function take(place, usd, tokens)
  local held = redis.call('HGET', holding, place)
  if not held then return end
  redis.call('HDEL', holding, place)
  local held_usd, held_tokens = string.match(held, '^(%d+) (%d+)$')
  if held_usd ~= '0' then add('held_usd', '-' .. held_usd) end
  if held_tokens ~= '0' then add('held_tokens', '-' .. held_tokens) end
  add('spent_usd', usd or held_usd)
  add('spent_tokens', tokens or held_tokens)
end

local function answer(verdict)
  return {verdict, get('spent_usd') or '0', get('spent_tokens') or '0', get('refused') or ''}
end

local function fits(name, sum)
  local limit = get('limit_' .. name)
  return limit == '' or sum <= tonumber(limit)
end

if act == 'open' then
  redis.call('HSET', budget, 'limit_usd', ARGV[2], 'limit_tokens', ARGV[3])
  redis.call('HSETNX', budget, 'spent_usd', ARGV[4])
  redis.call('HSETNX', budget, 'spent_tokens', ARGV[5])
  redis.call('HDEL', budget, 'refused')
  return answer('done')
end

if redis.call('EXISTS', budget) == 0 then return answer('gone') end

for _, holder in ipairs(redis.call('ZRANGEBYSCORE', holders, '-inf', now)) do
  for _, place in ipairs(redis.call('HKEYS', holding)) do
    if string.sub(place, 1, #holder + 1) == holder .. ' ' then take(place) end
  end
  redis.call('ZREM', holders, holder)
end

if act == 'look' then return answer('done') end
-- a clock that was set back makes nobody live longer than one that was heard now
local longest = string.format('%.0f', now + tonumber(ARGV[3]))
redis.call('ZADD', holders, longest, me)
for _, holder in ipairs(redis.call('ZRANGEBYSCORE', holders, '(' .. longest, '+inf')) do
  redis.call('ZADD', holders, longest, holder)
end
if act == 'live' then return answer('done') end

local place, usd, tokens = me .. ' ' .. ARGV[4], ARGV[5], ARGV[6]
if act == 'settle' then
  take(place, usd, tokens)
  return answer('done')
end

if redis.call('HEXISTS', holding, place) == 1 then return answer('done') end
if get('refused') then return answer('refused') end
local sums = {usd = tonumber(usd), tokens = tonumber(tokens)}
for _, name in ipairs({'usd', 'tokens'}) do
  if not fits(name, tonumber(get('spent_' .. name)) + sums[name]) then
    local spent = get('spent_usd') .. ' ' .. get('spent_tokens')
    redis.call('HSET', budget, 'refused', spent .. ' ' .. usd .. ' ' .. tokens .. ' ' .. ARGV[7])
    return answer('refused')
  end
end
for _, name in ipairs({'usd', 'tokens'}) do
  local taken = tonumber(get('spent_' .. name)) + tonumber(get('held_' .. name) or '0')
  if not fits(name, taken + sums[name]) then return answer('wait') end
end
redis.call('HSET', holding, place, usd .. ' ' .. tokens)
add('held_usd', usd)
add('held_tokens', tokens)
return answer('done')
