import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseEventType } from '../../../src/cli/events.ts'

const test = suite('an event type on the command line')

test('is added to the types before it if this release knows it', () => {
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
  test(`is refused as ${typed}, with ${meant} among the suggestions`, () => {
    assert.throws(() => parseEventType(typed), new RegExp(`Unknown event type. Did you mean: .*\\b${meant}\\b`))
  })
}

test('of a million characters is refused without hanging', () => {
  assert.throws(() => parseEventType('D'.repeat(1_000_000)), /Unknown event type/)
})

test.run()
