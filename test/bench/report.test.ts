import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Case } from '../../bench/group.ts'
import { lineOf, median, table } from '../../bench/report.ts'

const nothing = () => Promise.resolve(0)
const create: Case = { name: 'create', unit: 'requests/s', ours: nothing, other: nothing, target: { least: 3 } }
const cost: Case = { name: 'list', unit: 'us', ours: nothing, other: nothing, target: { most: 1.5 } }
const test = suite('the table of a benchmark')

test('uses the median: the middle value, or the mean of the two middle values', () => {
  assert.is(median([5, 1, 3]), 3)
  assert.is(median([4, 1, 3, 2]), 2.5)
})

test('compares round by round, so that a slow round does not change the ratio', () => {
  const line = lineOf({ of: create, ours: [3000, 300, 3000], other: [1000, 100, 1000] })
  assert.is(line.ratio, 3)
  assert.is(line.ok, true)
})

test('reports a rate that is too low or a cost that is too high', () => {
  assert.is(lineOf({ of: create, ours: [2900], other: [1000] }).ok, false)
  assert.is(lineOf({ of: cost, ours: [151], other: [100] }).ok, false)
  assert.is(lineOf({ of: cost, ours: [150], other: [100] }).ok, true)
})

test('only records a case without a counterpart', () => {
  const line = lineOf({ of: { name: 'refresh', unit: 'requests/s', ours: nothing }, ours: [1234.4], other: [] })
  assert.match(table([line]), '| refresh | requests/s | 1,234 |  |  |  | recorded |')
})

test.run()
