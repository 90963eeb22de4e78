import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Position, StoredEvent, SubscriptionBatch } from '../../../src/stores/ports/event-store.ts'
import { LogTail, type TailChunk } from '../../../src/stores/log/tail.ts'
import { event } from '../../contract/event-store/given.ts'

const test = suite('the tail of the log')

const LIMITS = { maxEvents: 1_500, maxBytes: 1_000 }

const at = (number: number): Position => ({ commit: BigInt(number), prepare: BigInt(number) })

const stored = (position: number, stream = 'tail-1'): StoredEvent => ({
  ...event(position),
  stream,
  revision: BigInt(position),
  position: at(position),
})

/** The `count` events after position `before`. */
const chunk = (before: number, count: number, bytes = 1): TailChunk => ({
  before: at(before),
  end: at(before + count),
  events: Array.from({ length: count }, (_, index) => stored(before + 1 + index)),
  bytes,
})

const positions = (batch: SubscriptionBatch | undefined) => batch?.events.map(({ position }) => Number(position.commit))

function tailOf(...chunks: readonly TailChunk[]): LogTail {
  const tail = new LogTail(LIMITS)
  tail.startAt(chunks[0]?.before ?? 'start')
  tail.follow(() => undefined)
  for (const one of chunks) tail.add(one)
  tail.trim()
  return tail
}

test('returns the events after a position inside or between chunks, with the newest one', () => {
  const tail = tailOf(chunk(10, 3), chunk(13, 2))
  assert.equal(positions(tail.batchAfter(at(10), undefined)), [11, 12, 13, 14, 15])
  assert.equal(positions(tail.batchAfter(at(12), undefined)), [13, 14, 15])
  assert.equal(positions(tail.batchAfter(at(13), undefined)), [14, 15])
  assert.is(tail.batchAfter(at(13), undefined)?.last?.revision, 15n)
})

test('returns at most 1,000 events, and continues after them', () => {
  const tail = tailOf(chunk(0, 700), chunk(700, 700))
  const first = tail.batchAfter(at(0), undefined)
  assert.equal([first?.events.length, first?.position, first?.caughtUp], [1_000, at(1_000), false])
  const rest = tail.batchAfter(at(1_000), undefined)
  assert.equal([rest?.events.length, rest?.position, rest?.caughtUp], [400, at(1_400), true])
})

test('returns the events of a filter, and how far it was read', () => {
  const events = [stored(1, 'a-1'), stored(2, 'b-1'), stored(3, 'a-2'), stored(4, 'b-2')]
  const tail = tailOf({ before: 'start', end: at(5), events, bytes: 1 })
  const batch = tail.batchAfter('start', { prefixes: ['a-'] })
  assert.equal([positions(batch), batch?.position, batch?.caughtUp], [[1, 3], at(5), true])
  assert.is(batch?.last, undefined, 'the event at position 5 is not in memory')
})

test('does not cover a position before it, and has no events after its end', () => {
  const tail = tailOf(chunk(10, 3))
  assert.is(tail.batchAfter(at(9), undefined), undefined)
  for (const position of [13, 20]) {
    const batch = tail.batchAfter(at(position), undefined)
    assert.equal([positions(batch), batch?.position, batch?.caughtUp], [[], at(position), true])
  }
})

test('begins with the newest events if some are missing before them', () => {
  const tail = tailOf(chunk(10, 3), chunk(15, 1))
  assert.is(tail.batchAfter(at(12), undefined), undefined)
  assert.equal(positions(tail.batchAfter(at(15), undefined)), [16])
})

test('is bounded in events and in bytes', () => {
  const many = tailOf(...Array.from({ length: 20 }, (_, index) => chunk(index * 500, 500)))
  assert.is(many.batchAfter(at(8_499), undefined), undefined)
  assert.is(positions(many.batchAfter(at(8_500), undefined))?.[0], 8_501)
  const large = tailOf(...Array.from({ length: 5 }, (_, index) => chunk(index, 1, 300)))
  assert.is(large.batchAfter(at(1), undefined), undefined)
  assert.equal(positions(large.batchAfter(at(2), undefined)), [3, 4, 5])
})

test('keeps what a subscription still needs, and reports it', () => {
  const tail = tailOf(chunk(0, 1_000))
  tail.add(chunk(1_000, 1_000))
  assert.is(tail.trim(at(999)), false)
  assert.ok(tail.covers(at(999)))
  assert.is(tail.trim(at(1_000)), true)
  assert.is(tail.covers(at(999)), false)
})

test('has not caught up while events are on their way', () => {
  const tail = tailOf(chunk(0, 2))
  tail.observeHead(at(3))
  assert.is(tail.batchAfter(at(0), undefined)?.caughtUp, false)
  tail.add(chunk(2, 1))
  assert.is(tail.batchAfter(at(2), undefined)?.caughtUp, true)
})

test('keeps nothing while no subscription follows it', () => {
  const tail = new LogTail(LIMITS)
  tail.startAt('start')
  const unfollow = tail.follow(() => undefined)
  tail.add({ ...chunk(0, 2), before: 'start' })
  assert.ok(tail.covers('start'))
  unfollow()
  tail.add(chunk(2, 1))
  assert.equal([tail.covers(at(2)), tail.covers(at(3))], [false, true])
})

test('covers nothing after its end once it is complete', () => {
  const tail = tailOf(chunk(0, 2))
  tail.complete()
  assert.equal(positions(tail.batchAfter(at(1), undefined)), [2])
  assert.is(tail.batchAfter(at(2), undefined), undefined)
})

test.run()
