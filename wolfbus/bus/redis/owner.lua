#!lua flags=allow-oom
-- Who owns a house. A full memory must not take a house from its moderator, who alone can make room: hence the flag.
--
-- KEYS  owner: a hash of epoch, holder, until: when the lease ends, in ms of this server's own clock, lease: how long it
--       is, in ms, and steps: how many steps have landed under this epoch
-- ARGV  claim HOLDER LEASE | renew HOLDER EPOCH LEASE STEPS | release HOLDER EPOCH; LEASE in ms, 0 for none; STEPS: how
--       many the holder knows to have landed
-- Returns a verdict and its details: done EPOCH | held HOLDER MS-LEFT | epoch CURRENT HOLDER | behind STEPS | refused WHY.

local owner, act, me = KEYS[1], ARGV[1], ARGV[2]
local found = redis.pcall('HMGET', owner, 'epoch', 'holder', 'until', 'steps', 'lease')
if found.err then return {'refused', found.err} end
local epoch, holder, ending = found[1] or '', found[2] or '', tonumber(found[3] or '0')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

-- a clock that was set back makes no lease longer than it is
local longest = now + (tonumber(found[5] or '') or math.huge)
if ending > longest then
  ending = longest
  redis.call('HSET', owner, 'until', string.format('%.0f', ending))
end

local function lease(ms)
  return string.format('%.0f', tonumber(ms) > 0 and now + tonumber(ms) or 0)
end

if act == 'claim' then
  if holder ~= me and ending > now then
    return {'held', holder, string.format('%.0f', ending - now)}
  end
  -- a claim that this server has lost was made before now, so its epoch does not come again
  epoch = string.format('%.0f', math.max(tonumber(epoch == '' and '0' or epoch) + 1, now))
  redis.call('HSET', owner, 'epoch', epoch, 'holder', me, 'until', lease(ARGV[3]), 'lease', ARGV[3], 'steps', '0')
  return {'done', epoch}
end

if epoch ~= ARGV[3] or holder ~= me then return {'epoch', epoch, holder} end
if act == 'renew' then
  local steps = tonumber(found[4] or '0')
  if steps < tonumber(ARGV[5]) then return {'behind', string.format('%.0f', steps)} end
end
if act == 'renew' then redis.call('HSET', owner, 'lease', ARGV[4]) end
redis.call('HSET', owner, 'until', lease(act == 'renew' and ARGV[4] or 0))
return {'done', epoch}
