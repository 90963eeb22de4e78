import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseEventType } from '../../../src/cli/events.ts'

const test = suite('a type of event on the command line')

test('is taken where this release knows it, beside those before', () => {
  assert.equal(parseEventType('DiamondScored', parseEventType('DiamondCreated')), ['DiamondCreated', 'DiamondScored'])
  assert.equal(parseEventType('LogCreated'), ['LogCreated'])
})

const MISTYPED = [
  ['DiamondCraeted', 'DiamondCreated'],
  ['diamondcreated', 'DiamondCreated'],
  ['Deleted', 'DiamondDeleted'],
  ['SecretShred', 'SecretShared'],
  ['toString', 'CopyDone'],
] as const

for (const [typed, meant] of MISTYPED) {
  test(`is refused as ${typed}, with ${meant} among the near ones`, () => {
    assert.throws(() => parseEventType(typed), new RegExp(`Unknown event type. Did you mean: .*\\b${meant}\\b`))
  })
}

test('is refused quickly, however long it is', () => {
  assert.throws(() => parseEventType('D'.repeat(1_000_000)), /Unknown event type/)
})

test.run()
