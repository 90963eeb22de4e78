import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StateCache } from '../../../src/commands/core/state-cache.ts'
import type { Decider } from '../../../src/domain/decider.ts'

type Noted = { readonly type: string; readonly data: object }

const text: Decider<string, Noted> = { initialState: '', evolve: (state) => state }
const other: Decider<string, Noted> = { ...text }
const newest: Decider<string, Noted> = { ...text, tail: { count: 1, isSufficient: () => true } }
const folded = (state: string) => ({ state, revision: 0n, lastEventId: 'e-1', lastEventAt: 1000 })
const known = (states: StateCache, streams: readonly string[]) =>
  streams.filter((stream) => states.find(stream, text) !== undefined)

const test = suite('the states of folded streams')

test('are found by the fold that made them, and by no other', () => {
  const states = new StateCache()
  states.put('a', text, folded('x'))
  assert.is(states.find('a', text)?.state, 'x')
  assert.is(states.find('a', other), undefined)
})

test('that were used longest ago go when there are too many', () => {
  const states = new StateCache({ maxStreams: 2, maxBytes: 1_000_000, maxStateBytes: 1_000_000 })
  states.put('a', text, folded('x'))
  states.put('b', text, folded('x'))
  states.find('a', text)
  states.put('c', text, folded('x'))
  assert.equal(known(states, ['a', 'b', 'c']), ['a', 'c'])
})

test('that were used longest ago go when they take too much memory', () => {
  const states = new StateCache({ maxStreams: 100, maxBytes: 10_000, maxStateBytes: 10_000 })
  for (const stream of ['a', 'b', 'c']) states.put(stream, text, folded('x'.repeat(2000)))
  assert.equal(known(states, ['a', 'b', 'c']), ['b', 'c'])
})

test('take the memory of the newest only, however often a stream changes', () => {
  const states = new StateCache({ maxStreams: 100, maxBytes: 10_000, maxStateBytes: 10_000 })
  states.put('a', text, folded('x'))
  for (let change = 0; change < 100; change++) states.put('b', text, folded('x'.repeat(2000)))
  assert.equal(known(states, ['a', 'b']), ['a', 'b'])
})

test('are not kept where one is too large, and an older one of its stream goes', () => {
  const states = new StateCache({ maxStreams: 100, maxBytes: 100_000, maxStateBytes: 1000 })
  states.put('a', text, folded('x'))
  states.put('a', text, folded('x'.repeat(2000)))
  assert.equal(known(states, ['a']), [])
})

test('are not kept where a fold reads only the newest events of a stream', () => {
  const states = new StateCache()
  states.put('a', newest, folded('x'))
  assert.is(states.find('a', newest), undefined)
})

test.run()
