import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { changesBetween } from '../../../src/projections/history/history-entry.ts'

const test = suite('the changes between two states')

test('contain one entry per changed field, in field order, and none if the states are equal', () => {
  const before = { sku: 'A', price: null, carat: 1, scores: { fire: 1 } }
  assert.equal(changesBetween(before, { ...before, scores: { fire: 1 } }), [])
  assert.equal(changesBetween(before, { sku: 'A', price: 3, carat: 2, scores: null }), [
    { field: 'price', from: null, to: 3 },
    { field: 'carat', from: 1, to: 2 },
    { field: 'scores', from: { fire: 1 }, to: null },
  ])
})

test('contain every field that is not null if one of the states does not exist', () => {
  const state = { sku: 'A', price: null, isColored: false, certifications: [] }
  assert.equal(changesBetween(null, state), [
    { field: 'sku', from: null, to: 'A' },
    { field: 'isColored', from: null, to: false },
  ])
  assert.equal(changesBetween(state, null), [
    { field: 'sku', from: 'A', to: null },
    { field: 'isColored', from: false, to: null },
  ])
  assert.equal(changesBetween(null, null), [])
})

test('contain one entry per added, removed or changed object of a list, whatever its order', () => {
  const [one, two, three] = [{ id: 1 }, { id: 2, number: 'a' }, { id: 3 }]
  const reports = 'certifications'
  assert.equal(changesBetween({ reports: [one, two] }, { reports: [{ id: 2, number: 'b' }, three] }), [
    { field: 'reports', from: one, to: null },
    { field: 'reports', from: two, to: { id: 2, number: 'b' } },
    { field: 'reports', from: null, to: three },
  ])
  assert.equal(changesBetween({ [reports]: [two, one] }, { [reports]: [one, two] }), [])
})

test('contain the whole list if its elements are plain values', () => {
  assert.equal(changesBetween({ names: [] }, { names: ['a'] }), [{ field: 'names', from: [], to: ['a'] }])
  assert.equal(changesBetween({ names: ['a'] }, { names: ['a', 'b'] }), [
    { field: 'names', from: ['a'], to: ['a', 'b'] },
  ])
})

test.run()
