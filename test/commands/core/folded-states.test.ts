import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FoldedStates } from '../../../src/commands/core/folded-states.ts'
import type { Decider } from '../../../src/domain/decider.ts'

type Noted = { readonly type: string; readonly data: object }

const text: Decider<string, Noted> = { initialState: '', evolve: (state) => state }
const other: Decider<string, Noted> = { ...text }
const newest: Decider<string, Noted> = { ...text, newest: { count: 1, suffices: () => true } }
const folded = (state: string) => ({ state, revision: 0n, last: 'e-1', at: 1000 })
const known = (states: FoldedStates, streams: readonly string[]) =>
  streams.filter((stream) => states.find(stream, text) !== undefined)

const test = suite('the states of folded streams')

test('are found by the fold that made them, and by no other', () => {
  const states = new FoldedStates()
  states.keep('a', text, folded('x'))
  assert.is(states.find('a', text)?.state, 'x')
  assert.is(states.find('a', other), undefined)
})

test('that were used longest ago go when there are too many', () => {
  const states = new FoldedStates({ streams: 2, bytes: 1_000_000, bytesOfOne: 1_000_000 })
  states.keep('a', text, folded('x'))
  states.keep('b', text, folded('x'))
  states.find('a', text)
  states.keep('c', text, folded('x'))
  assert.equal(known(states, ['a', 'b', 'c']), ['a', 'c'])
})

test('that were used longest ago go when they take too much memory', () => {
  const states = new FoldedStates({ streams: 100, bytes: 10_000, bytesOfOne: 10_000 })
  for (const stream of ['a', 'b', 'c']) states.keep(stream, text, folded('x'.repeat(2000)))
  assert.equal(known(states, ['a', 'b', 'c']), ['b', 'c'])
})

test('take the memory of the newest only, however often a stream changes', () => {
  const states = new FoldedStates({ streams: 100, bytes: 10_000, bytesOfOne: 10_000 })
  states.keep('a', text, folded('x'))
  for (let change = 0; change < 100; change++) states.keep('b', text, folded('x'.repeat(2000)))
  assert.equal(known(states, ['a', 'b']), ['a', 'b'])
})

test('are not kept where one is too large, and an older one of its stream goes', () => {
  const states = new FoldedStates({ streams: 100, bytes: 100_000, bytesOfOne: 1000 })
  states.keep('a', text, folded('x'))
  states.keep('a', text, folded('x'.repeat(2000)))
  assert.equal(known(states, ['a']), [])
})

test('are not kept where a fold reads only the newest events of a stream', () => {
  const states = new FoldedStates()
  states.keep('a', newest, folded('x'))
  assert.is(states.find('a', newest), undefined)
})

test.run()
