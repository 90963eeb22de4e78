import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseTraceparent } from '../../../src/http/middleware/context.ts'

const test = suite('traceparent')

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const GOOD = `00-${TRACE}-${PARENT}-01`

test('is read unchanged, except for surrounding blanks', () => {
  assert.is(parseTraceparent(GOOD), GOOD)
  assert.is(parseTraceparent(` ${GOOD}\t`), GOOD)
  assert.is(parseTraceparent(`00-${TRACE}-${PARENT}-00`), `00-${TRACE}-${PARENT}-00`)
})

test('keeps only the flags of version 00', () => {
  assert.is(parseTraceparent(`00-${TRACE}-${PARENT}-ff`), GOOD)
  assert.is(parseTraceparent(`00-${TRACE}-${PARENT}-02`), `00-${TRACE}-${PARENT}-00`)
})

test('of a later version is read as version 00', () => {
  assert.is(parseTraceparent(`cc-${TRACE}-${PARENT}-01`), GOOD)
  assert.is(parseTraceparent(`cc-${TRACE}-${PARENT}-01-what-the-future-will-be-like`), GOOD)
})

const malformed: readonly (readonly [why: string, header: string | string[] | undefined])[] = [
  ['is missing', undefined],
  ['is empty', ''],
  ['has another format', 'abc'],
  ['has the invalid version ff', `ff-${TRACE}-${PARENT}-01`],
  ['has a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
  ['has a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['has upper-case letters', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
  ['is too short', `00-${TRACE}-${PARENT.slice(1)}-01`],
  ['is too long', `00-${TRACE}0-${PARENT}-01`],
  ['has further fields in version 00', `${GOOD}-more`],
  ['has no dash before the fields of a later version', `cc-${TRACE}-${PARENT}-01.more`],
  ['has invalid flags', `00-${TRACE}-${PARENT}-0g`],
  ['is repeated', `${GOOD}, ${GOOD}`],
  ['has a later version and is repeated', `cc-${TRACE}-${PARENT}-01-x, cc-${TRACE}-${PARENT}-01-x`],
  ['is a list', [GOOD, GOOD]],
]

for (const [why, header] of malformed)
  test(`is ignored if it ${why}`, () => assert.is(parseTraceparent(header), undefined))

test.run()
