import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findNearMiss } from '../../../src/domain/dictionaries/edit-distance.ts'

const test = suite('a name that is another but for its case or a letter or two')

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
  test(`is found, and no other: ${name.slice(0, 20)}`, () => assert.is(findNearMiss(name, candidates), meant))
}

test.run()
