import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nearest } from '../../../src/domain/dictionaries/nearest.ts'

const FIELDS = ['sku', 'price', 'isColored', 'isPublished', 'cutShape', 'carat', 'color', 'clarity', 'girdle', 'access']

const test = suite('the nearest name')

test('is the one with fewest letters to change, add, leave out or swap', () => {
  assert.is(nearest('carot', FIELDS), 'carat')
  assert.is(nearest('carrat', FIELDS), 'carat')
  assert.is(nearest('crat', FIELDS), 'carat')
  assert.is(nearest('catar', FIELDS), 'carat')
  assert.is(nearest('colour', FIELDS), 'color')
  assert.is(nearest('isColoured', FIELDS), 'isColored')
  assert.is(nearest('gridle', FIELDS), 'girdle')
})

test('counts a swap of neighbours as one change', () => {
  assert.is(nearest('ksu', FIELDS), 'sku')
})

test('does not mind capitals', () => {
  assert.is(nearest('CUTSHAPE', FIELDS), 'cutShape')
  assert.is(nearest('cut_shape', FIELDS), 'cutShape')
})

test('of equally near ones is the first', () => {
  assert.is(nearest('bat', ['cat', 'hat']), 'cat')
})

test('is none when all are far', () => {
  assert.is(nearest('laboratory', FIELDS), undefined)
  assert.is(nearest('', FIELDS), undefined)
  assert.is(nearest('x', FIELDS), undefined)
  assert.is(nearest('carat', []), undefined)
})

test('costs nothing for a name far longer than any candidate', () => {
  const started = process.cpuUsage()
  for (let i = 0; i < 1000; i++) assert.is(nearest('c'.repeat(100_000), FIELDS), undefined)
  // Comparing letter by letter would take minutes.
  assert.ok(process.cpuUsage(started).user < 2_000_000)
})

test('of a candidate is the candidate itself', () => {
  fc.assert(fc.property(fc.constantFrom(...FIELDS), (name) => nearest(name, FIELDS) === name))
})

test.run()
