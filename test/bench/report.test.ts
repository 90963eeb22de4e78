import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Case } from '../../bench/group.ts'
import { summarize, median, toMarkdownTable } from '../../bench/report.ts'

const nothing = () => Promise.resolve(0)
const create: Case = { name: 'create', unit: 'requests/s', ours: nothing, baseline: nothing, target: { min: 3 } }
const cost: Case = { name: 'list', unit: 'us', ours: nothing, baseline: nothing, target: { max: 1.5 } }
const test = suite('the table of a benchmark')

test('uses the median: the middle value, or the mean of the two middle values', () => {
  assert.is(median([5, 1, 3]), 3)
  assert.is(median([4, 1, 3, 2]), 2.5)
})

test('compares round by round, so that a slow round does not change the ratio', () => {
  const line = summarize({ benchCase: create, ours: [3000, 300, 3000], baseline: [1000, 100, 1000] })
  assert.is(line.ratio, 3)
  assert.is(line.ok, true)
})

test('reports a rate that is too low or a cost that is too high', () => {
  assert.is(summarize({ benchCase: create, ours: [2900], baseline: [1000] }).ok, false)
  assert.is(summarize({ benchCase: cost, ours: [151], baseline: [100] }).ok, false)
  assert.is(summarize({ benchCase: cost, ours: [150], baseline: [100] }).ok, true)
})

test('compares a figure with its limit, also without a baseline', () => {
  const read: Case = { name: 'GET', unit: 'us', ours: nothing, limit: { max: 5000 } }
  assert.is(summarize({ benchCase: read, ours: [5001], baseline: [] }).ok, false)
  const line = summarize({ benchCase: read, ours: [4999], baseline: [100] })
  assert.equal([line.ok, line.target, line.ratio], [true, '<= 5,000 us', 49.99])
})

test('only records a case without a baseline', () => {
  const line = summarize({
    benchCase: { name: 'refresh', unit: 'requests/s', ours: nothing },
    ours: [1234.4],
    baseline: [],
  })
  assert.match(toMarkdownTable([line]), '| refresh | requests/s | 1,234 |  |  |  | recorded |')
})

test.run()
