import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StateCache } from '../../../src/commands/core/state-cache.ts'
import type { Fold } from '../../../src/domain/fold.ts'

type AnyEvent = { readonly type: string; readonly data: object }

const text: Fold<string, AnyEvent> = { initialState: '', evolve: (state) => state }
const other: Fold<string, AnyEvent> = { ...text }
const newest: Fold<string, AnyEvent> = { ...text, tail: { count: 1, isSufficient: () => true } }
const folded = (state: string) => ({ state, revision: 0n, lastEventId: 'e-1', lastEventAt: 1000 })
const cachedOf = (states: StateCache, streams: readonly string[]) =>
  streams.filter((stream) => states.find(stream, text) !== undefined)

const test = suite('cached stream states')

test('are found only by the fold that folded them', () => {
  const states = new StateCache()
  states.put('a', text, folded('x'))
  assert.is(states.find('a', text)?.state, 'x')
  assert.is(states.find('a', other), undefined)
})

test('are evicted, least recently used first, when there are too many', () => {
  const states = new StateCache({ maxStreams: 2, maxBytes: 1_000_000, maxStateBytes: 1_000_000 })
  states.put('a', text, folded('x'))
  states.put('b', text, folded('x'))
  states.find('a', text)
  states.put('c', text, folded('x'))
  assert.equal(cachedOf(states, ['a', 'b', 'c']), ['a', 'c'])
})

test('are evicted, least recently used first, when they take too much memory', () => {
  const states = new StateCache({ maxStreams: 100, maxBytes: 10_000, maxStateBytes: 10_000 })
  for (const stream of ['a', 'b', 'c']) states.put(stream, text, folded('x'.repeat(2000)))
  assert.equal(cachedOf(states, ['a', 'b', 'c']), ['b', 'c'])
})

test('count only the memory of the newest state of a stream', () => {
  const states = new StateCache({ maxStreams: 100, maxBytes: 10_000, maxStateBytes: 10_000 })
  states.put('a', text, folded('x'))
  for (let change = 0; change < 100; change++) states.put('b', text, folded('x'.repeat(2000)))
  assert.equal(cachedOf(states, ['a', 'b']), ['a', 'b'])
})

test('exclude a state that is too large, and drop the older state of its stream', () => {
  const states = new StateCache({ maxStreams: 100, maxBytes: 100_000, maxStateBytes: 1000 })
  states.put('a', text, folded('x'))
  states.put('a', text, folded('x'.repeat(2000)))
  assert.equal(cachedOf(states, ['a']), [])
})

test('exclude folds that read only the newest events of a stream', () => {
  const states = new StateCache()
  states.put('a', newest, folded('x'))
  assert.is(states.find('a', newest), undefined)
})

test.run()
