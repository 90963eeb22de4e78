import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { StoredEvent } from '../../../../src/stores/ports/event-store.ts'
import { positionAt } from '../../../../src/stores/sqlite/events/rows.ts'
import { SqliteLogTail } from '../../../../src/stores/sqlite/events/feed.ts'
import { event } from '../../../contract/event-store/given.ts'

const test = suite('the cache of the newest events')

const stored = (position: number): StoredEvent => ({
  ...event(position),
  stream: 'tail',
  revision: BigInt(position),
  position: positionAt(position),
})

/** The `count` events after position `before`. */
const chunk = (before: number, count: number, bytes = 1) => ({
  before,
  head: before + count,
  events: Array.from({ length: count }, (_, index) => stored(before + 1 + index)),
  bytes,
})

const positions = (events: readonly StoredEvent[] | undefined) => events?.map(({ position }) => Number(position.commit))

function tailOf(...chunks: ReturnType<typeof chunk>[]): SqliteLogTail {
  const tail = new SqliteLogTail()
  for (const one of chunks) tail.add(one)
  return tail
}

test('returns up to a number of events after a position inside or between commits', () => {
  const tail = tailOf(chunk(10, 3), chunk(13, 2))
  assert.equal(positions(tail.eventsAfter(10, 9)), [11, 12, 13, 14, 15])
  assert.equal(positions(tail.eventsAfter(12, 9)), [13, 14, 15])
  assert.equal(positions(tail.eventsAfter(13, 9)), [14, 15])
  assert.equal(positions(tail.eventsAfter(11, 3)), [12, 13, 14])
})

test('returns nothing for a position outside of it', () => {
  const tail = tailOf(chunk(10, 3))
  assert.is(tail.eventsAfter(9, 9), undefined)
  assert.is(tail.eventsAfter(13, 9), undefined)
  assert.is(tail.eventsAfter(20, 9), undefined)
})

test('starts over if another process has written in between', () => {
  const tail = tailOf(chunk(10, 3), chunk(15, 1))
  assert.is(tail.eventsAfter(12, 9), undefined)
  assert.equal(positions(tail.eventsAfter(15, 9)), [16])
})

test('is bounded in events and in bytes', () => {
  const many = tailOf(...Array.from({ length: 20 }, (_, index) => chunk(index * 500, 500)))
  assert.is(many.eventsAfter(4999, 9), undefined)
  assert.equal(positions(many.eventsAfter(9000, 2)), [9001, 9002])
  const large = tailOf(...Array.from({ length: 5 }, (_, index) => chunk(index, 1, 10_000_000)))
  assert.is(large.eventsAfter(1, 9), undefined)
  assert.equal(positions(large.eventsAfter(2, 9)), [3, 4, 5])
})

test.run()
