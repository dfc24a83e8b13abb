#!lua
-- The games of an agenda that several processes share: each is put on it once, and finished once.
--
-- KEYS  agenda: a stream of games with one consumer group · known: a set of the games that were put on it · done: a hash
--       of game to who finished it · results: a stream of what came of games ·
--       lease: ms for which a worker may be silent, as the first of them said
-- ARGV  post GAME… | lease MS | finish ENTRY GAME WHO RESULT
-- Returns how many games are new; the lease that holds; or who finished the game, first of all. Nobody, or no lease, "",
-- where there is no agenda any more.

local agenda, known, done, results, lease, act = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], ARGV[1]

if act == 'post' then
  local new = 0
  for place = 2, #ARGV do
    if redis.call('SADD', known, ARGV[place]) == 1 then
      redis.call('XADD', agenda, '*', 'game', ARGV[place])
      new = new + 1
    end
  end
  return new
end

if redis.call('EXISTS', agenda) == 0 then return '' end

if act == 'lease' then
  redis.call('SET', lease, ARGV[2], 'NX')
  return redis.call('GET', lease)
end

local entry, game, who, result = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if redis.call('HSETNX', done, game, who) == 1 then
  redis.call('XADD', results, '*', 'game', game, 'who', who, 'result', result)
end
redis.call('XACK', agenda, 'workers', entry)
redis.call('XDEL', agenda, entry)
return redis.call('HGET', done, game)
