import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findNearMiss } from '../../../src/domain/dictionaries/edit-distance.ts'

const test = suite('a near miss')

for (const [name, candidates, meant] of [
  ['LIMIT', ['limit', 'offset'], 'limit'],
  ['offest', ['limit', 'offset'], 'offset'],
  ['set', ['offset'], undefined],
  ['Pearl', ['Pear'], 'Pear'],
  ['Star', ['Pear'], undefined],
  ['AT', ['at'], 'at'],
  ['it', ['at'], undefined],
  ['off', ['oft'], undefined],
  ['x'.repeat(1_000_000), ['limit'], undefined],
] as const) {
  test(`of ${name.slice(0, 20)} is ${meant ?? 'not found'}`, () => assert.is(findNearMiss(name, candidates), meant))
}

test.run()
