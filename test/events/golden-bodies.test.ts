import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { goldenFile, rendered, type Golden } from './bodies.ts'

const test = suite('a stored body')

const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden

test('of a new version of the model is recorded', () => {
  assert.is(golden.version, diamonds.declaration.version, 'run test/events/record-bodies.ts')
})

test('changes only with the version of the model, since older ones are sent as they are', () => {
  assert.equal(rendered().bodies, golden.bodies)
})

test.run()
