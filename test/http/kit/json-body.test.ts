import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Refusal } from '../../../src/domain/refusal.ts'
import { JsonShape } from '../../../src/http/kit/json-body.ts'

const test = suite('the shape of a JSON text')

/** What it says of a text that comes in pieces of so many bytes: 'fine', or the kind of its refusal. */
function judged(text: string, size = text.length, most?: number): string {
  const shape = new JsonShape(most)
  const bytes = Buffer.from(text)
  try {
    for (let at = 0; at < bytes.length; at += size) shape.take(bytes.subarray(at, at + size))
    shape.end()
    return 'fine'
  } catch (error) {
    assert.instance(error, Refusal)
    return (error as Refusal).kind
  }
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

test('may be nested 100 levels deep, and no deeper', () => {
  assert.is(judged(nested(100)), 'fine')
  assert.is(judged(nested(101)), 'invalid')
  assert.is(judged('['.repeat(101)), 'malformed')
})

test('may have so many members and elements, and no more', () => {
  assert.is(judged('[1,2,3]', 1, 3), 'fine')
  assert.is(judged('[1,2,3,4]', 1, 3), 'too-large')
  assert.is(judged('{"a":{"b":[]}}', 1, 2), 'too-large')
})

test('counts nothing that stands in texts', () => {
  for (const text of ['"[[[,,,{{{"', '"\\",,,,\\\\"', '{"a,b,c,d\\"[":"\\\\\\",,"}'])
    assert.is(judged(text, 1, 1), 'fine', text)
})

test('is the same however the text is cut into pieces, and fine for all that is small (property)', () => {
  fc.assert(
    fc.property(fc.json(), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 5 }), (text, size, most) => {
      assert.is(judged(text, size, most), judged(text, text.length * 4 + 1, most))
      assert.is(judged(text, size), 'fine')
    }),
  )
})

test.run()
