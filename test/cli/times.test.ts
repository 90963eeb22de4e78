import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseSince, parseTimeRange, parseUntil } from '../../src/cli/times.ts'

const test = suite('a time on the command line')

const shown = (text: string) => {
  const { from, to } = parseTimeRange(text)
  return [new Date(from).toISOString(), new Date(to).toISOString()]
}

const SPANS: readonly (readonly [text: string, from: string, to: string])[] = [
  ['2026-11-22', '2026-11-22T00:00:00.000Z', '2026-11-22T23:59:59.999Z'],
  ['2026-11-22T10:05', '2026-11-22T10:05:00.000Z', '2026-11-22T10:05:59.999Z'],
  ['2026-11-22 10:05:07', '2026-11-22T10:05:07.000Z', '2026-11-22T10:05:07.999Z'],
  ['2026-11-22T10:05:07.250Z', '2026-11-22T10:05:07.250Z', '2026-11-22T10:05:07.250Z'],
  ['2026-11-22T10:05:07+02:00', '2026-11-22T08:05:07.000Z', '2026-11-22T08:05:07.999Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z', '2024-02-29T23:59:59.999Z'],
]

for (const [text, from, to] of SPANS) {
  test(`${text} is ${from} to ${to} in every time zone of the machine`, () => {
    assert.equal(shown(text), [from, to])
    assert.equal([parseSince(text), parseUntil(text)], [Date.parse(from), Date.parse(to)])
  })
}

for (const text of [
  '',
  'yesterday',
  '2026',
  '2026-02-30',
  '2026-11-22T25:00',
  '2026-11-22T10',
  '1795256157',
  '2026-W05',
]) {
  test(`cannot be ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseTimeRange(text), /It must be a time such as 2026-11-22T10:00:00Z/)
  })
}

test.run()
