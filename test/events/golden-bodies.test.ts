import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { goldenFile, rendered, type Golden } from './bodies.ts'

const test = suite('a recorded diamond')

const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden

test('is recorded for the current version of the read model', () => {
  assert.is(golden.version, diamonds.declaration.version, 'run test/events/record-bodies.ts')
})

test('is stored as recorded: a changed document needs a new version of the read model', () => {
  assert.equal(rendered().documents, golden.documents)
})

test('has the recorded response bodies', () => {
  assert.equal(rendered().bodies, golden.bodies)
})

test.run()
