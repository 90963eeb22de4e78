import * as fc from '../fast-check.ts'
import { createHmac, hkdfSync } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { derive, hmac } from '../../src/credentials/key-derivation.ts'

const test = suite('key derivation')

const bytes = (length: { minLength?: number; maxLength: number }) =>
  fc.uint8Array(length).map((array) => Buffer.from(array))

/** RFC 4231, test cases 1 to 4: key, data, HMAC-SHA-256. */
const VECTORS = [
  ['0b'.repeat(20), '4869205468657265', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    '4a656665',
    '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  ['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
  [
    '0102030405060708090a0b0c0d0e0f10111213141516171819',
    'cd'.repeat(50),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
] as const

test('HMAC gives what RFC 4231 says', () => {
  for (const [key, data, expected] of VECTORS) {
    assert.is(hmac(Buffer.from(key, 'hex'), Buffer.from(data, 'hex')).toString('hex'), expected)
  }
})

test('HMAC gives what createHmac gives, for keys up to a block and any message', () => {
  fc.assert(
    fc.property(bytes({ maxLength: 64 }), bytes({ maxLength: 300 }), (key, message) => {
      assert.equal(hmac(key, message), createHmac('sha256', key).update(message).digest())
    }),
  )
})

test('HMAC takes a text as its UTF-8', () => {
  fc.assert(
    fc.property(fc.anyText(), (text) => {
      const key = Buffer.from('key')
      assert.equal(hmac(key, text), createHmac('sha256', key).update(text).digest())
    }),
  )
})

test('HMAC refuses a key that is longer than a block, and names both lengths', () => {
  assert.throws(() => hmac(Buffer.alloc(65), 'message'), /65 bytes.*at most 64/)
})

test('a key derived is what HKDF gives: RFC 5869, test case 3', () => {
  assert.is(
    derive(Buffer.alloc(22, 0x0b), '').toString('hex'),
    '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d',
  )
})

test('a key derived from a text is what hkdfSync gives for it', () => {
  for (const length of [16, 32])
    assert.equal(derive('key', 'purpose', length), Buffer.from(hkdfSync('sha256', 'key', '', 'purpose', length)))
})

test('a key derived is what hkdfSync gives, for any key, purpose and length up to 32', () => {
  fc.assert(
    fc.property(
      bytes({ minLength: 1, maxLength: 200 }),
      fc.string({ maxLength: 40 }),
      fc.integer({ min: 1, max: 32 }),
      (key, purpose, length) => {
        assert.equal(derive(key, purpose, length), Buffer.from(hkdfSync('sha256', key, '', purpose, length)))
      },
    ),
  )
})

test.run()
