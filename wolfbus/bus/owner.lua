#!lua flags=allow-oom
-- Who owns a house. A full memory must not take a house from its moderator, who alone can make room: hence the flag.
--
-- KEYS  owner: a hash of epoch, holder, and until: when the lease ends, in ms of this server's own clock
-- ARGV  claim HOLDER LEASE | renew EPOCH LEASE | release EPOCH; LEASE in ms, 0 for none
-- Returns a verdict and its details: done EPOCH | held HOLDER MS-LEFT | epoch CURRENT | refused WHY.

local owner, act = KEYS[1], ARGV[1]
local found = redis.pcall('HMGET', owner, 'epoch', 'holder', 'until')
if found.err then return {'refused', found.err} end
local epoch, holder, ending = found[1] or '', found[2] or '', tonumber(found[3] or '0')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function lease(ms)
  return string.format('%.0f', tonumber(ms) > 0 and now + tonumber(ms) or 0)
end

if act == 'claim' then
  if holder ~= ARGV[2] and ending > now then
    return {'held', holder, string.format('%.0f', ending - now)}
  end
  epoch = redis.call('HINCRBY', owner, 'epoch', 1)
  redis.call('HSET', owner, 'holder', ARGV[2], 'until', lease(ARGV[3]))
  return {'done', string.format('%.0f', epoch)}
end

if epoch ~= ARGV[2] then return {'epoch', epoch} end
redis.call('HSET', owner, 'until', lease(act == 'renew' and ARGV[3] or 0))
return {'done', epoch}
