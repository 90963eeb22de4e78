import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { goldenFile, rendered, type Golden } from './bodies.ts'

const test = suite('a recorded diamond')

const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden

test('of a new version of the model is recorded', () => {
  assert.is(golden.version, diamonds.declaration.version, 'run test/events/record-bodies.ts')
})

test('is stored otherwise only with the version of the model, since older documents are read as they are', () => {
  assert.equal(rendered().documents, golden.documents)
})

test('is answered as it was', () => {
  assert.equal(rendered().bodies, golden.bodies)
})

test.run()
