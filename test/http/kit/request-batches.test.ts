import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { batchRequests } from '../../../src/http/kit/request-batches.ts'

const test = suite('requests that arrive together')

const afterImmediates = () => new Promise((done) => setImmediate(() => setImmediate(done)))

/**
 * Records the started requests, with `|` between two callbacks of the event loop.
 * @param takes milliseconds per request
 * @param answer called for each request
 */
function recordingBatch(takes = 0, answer: () => unknown = () => undefined, isAccepting = () => false) {
  const seen: string[] = []
  let isMarked = false
  let now = 0
  const start = batchRequests(
    (name: string) => {
      now += takes
      seen.push(name)
      void answer()
      if (isMarked) return
      isMarked = true
      process.nextTick(() => {
        isMarked = false
        seen.push('|')
      })
    },
    () => isAccepting(),
    () => now,
  )
  return {
    begin: (name: string, client = 'client') => start(client, name),
    seen: () => seen.join(''),
    advance: (ms: number) => void (now += ms),
  }
}

test('start in order and in one callback, after the last has arrived', async () => {
  const { begin, seen } = recordingBatch()
  for (const name of ['a', 'b', 'c']) begin(name)
  assert.is(seen(), '')
  await afterImmediates()
  begin('d')
  await afterImmediates()
  assert.is(seen(), 'abc|d|')
})

test('start in several callbacks if they are many, with none lost or out of order', async () => {
  const { begin, seen } = recordingBatch()
  const names = Array.from({ length: 150 }, (_, at) => `(${at})`)
  for (const name of names) begin(name)
  while (!seen().includes('(149)')) await afterImmediates()
  await afterImmediates()
  assert.equal(seen().replaceAll('|', ''), names.join(''))
  assert.is(seen().split('|').length, 6, 'five callbacks, and nothing after the last')
})

test('yield to timers in between if each takes long', async () => {
  const { begin, seen } = recordingBatch(6)
  for (const name of ['a', 'b', 'c']) begin(name)
  while (!seen().includes('c|')) await afterImmediates()
  assert.is(seen(), 'a|b|c|')
})

test('can arrive while others start', async () => {
  const { begin, seen } = recordingBatch()
  const again = batchRequests(
    (name: string) => {
      begin(name)
      if (name === 'a') again('client', 'b')
    },
    () => false,
  )
  again('client', 'a')
  while (!seen().includes('b')) await afterImmediates()
  assert.is(seen().replaceAll('|', ''), 'ab')
})

test('of several clients start in turn, each in its order', async () => {
  const { begin, seen } = recordingBatch()
  for (const name of ['a1', 'a2', 'a3', 'a4']) begin(name, 'a')
  for (const name of ['b1', 'b2']) begin(name, 'b')
  await afterImmediates()
  assert.is(seen(), 'a1b1a2b2a3a4|')
})

test('start fewer at a time after their promise callbacks took long', async () => {
  const { begin, seen, advance } = recordingBatch(0, async () => {
    await undefined
    advance(6)
  })
  for (let at = 0; at < 40; at++) begin('.')
  while (seen().replaceAll('|', '').length < 40) await afterImmediates()
  await afterImmediates()
  assert.is(seen(), `${'.'.repeat(32)}|${'.|'.repeat(8)}`)
})

test('wait while connections are accepted, for up to 5 ms', async () => {
  let accepted = 3
  const few = recordingBatch(0, undefined, () => accepted-- > 0)
  few.begin('a')
  for (let round = 0; few.seen() === '' && round < 10; round++) await afterImmediates()
  assert.is(accepted, -1)
  await afterImmediates()
  assert.is(few.seen(), 'a|')

  const many = recordingBatch(0, undefined, () => true)
  many.begin('a')
  for (let round = 0; round < 10; round++) await afterImmediates()
  assert.is(many.seen(), '')
  many.advance(5)
  await afterImmediates()
  assert.is(many.seen(), 'a|')
})

test.run()
