import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findClosestName } from '../../../src/domain/dictionaries/edit-distance.ts'

const FIELDS = ['sku', 'price', 'isColored', 'isPublished', 'cutShape', 'carat', 'color', 'clarity', 'girdle', 'access']

const test = suite('the closest name')

test('has the fewest letters to substitute, insert, delete or transpose', () => {
  assert.is(findClosestName('carot', FIELDS), 'carat')
  assert.is(findClosestName('carrat', FIELDS), 'carat')
  assert.is(findClosestName('crat', FIELDS), 'carat')
  assert.is(findClosestName('catar', FIELDS), 'carat')
  assert.is(findClosestName('colour', FIELDS), 'color')
  assert.is(findClosestName('isColoured', FIELDS), 'isColored')
  assert.is(findClosestName('gridle', FIELDS), 'girdle')
})

test('is found with a transposition of neighbours as one edit', () => {
  assert.is(findClosestName('ksu', FIELDS), 'sku')
})

test('is found regardless of case', () => {
  assert.is(findClosestName('CUTSHAPE', FIELDS), 'cutShape')
  assert.is(findClosestName('cut_shape', FIELDS), 'cutShape')
})

test('is the first of equally close ones', () => {
  assert.is(findClosestName('bat', ['cat', 'hat']), 'cat')
})

test('is undefined if no candidate is close', () => {
  assert.is(findClosestName('laboratory', FIELDS), undefined)
  assert.is(findClosestName('', FIELDS), undefined)
  assert.is(findClosestName('x', FIELDS), undefined)
  assert.is(findClosestName('carat', []), undefined)
})

test('is computed without comparing letters if the name is far longer than any candidate', () => {
  const started = process.cpuUsage()
  for (let i = 0; i < 1000; i++) assert.is(findClosestName('c'.repeat(100_000), FIELDS), undefined)
  // Comparing letter by letter would take minutes.
  assert.ok(process.cpuUsage(started).user < 2_000_000)
})

test('of a candidate is itself', () => {
  fc.assert(fc.property(fc.constantFrom(...FIELDS), (name) => findClosestName(name, FIELDS) === name))
})

test.run()
