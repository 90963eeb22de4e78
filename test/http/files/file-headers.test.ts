import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { inlineDisposition, parseRange } from '../../../src/http/files/file-download.ts'

const test = suite("a certification's file")

test('is served in ranges within its length', () => {
  const range = fc.tuple(fc.nat(2_000), fc.nat(2_000), fc.integer({ min: 1, max: 1_000 }))
  fc.assert(
    fc.property(range, ([from, to, bytes]) => {
      for (const header of [`bytes=${from}-${to}`, `bytes=${from}-`, `bytes=-${to}`]) {
        const parsed = parseRange(header, bytes)
        if (parsed === undefined || parsed === 'unsatisfiable') continue
        assert.ok(parsed.start >= 0 && parsed.start <= parsed.end && parsed.end < bytes, header)
      }
    }),
  )
})

test('has a Content-Disposition header that no file name can break out of', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (name) => {
      assert.match(inlineDisposition(name), /^inline; filename="[^"\\]*"(?:; filename\*=UTF-8''[\w%.!~-]*)?$/)
    }),
  )
})

test.run()
