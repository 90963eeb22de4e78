import { createSecretKey } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { derive, hmac } from '../../src/credentials/digests.ts'

const test = suite('key derivation')

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

test('computes the HMACs of RFC 4231', () => {
  for (const [key, data, expected] of VECTORS) {
    assert.is(hmac(createSecretKey(key, 'hex'), Buffer.from(data, 'hex')).toString('hex'), expected)
  }
})

test('computes the HKDF output of RFC 5869, test case 3', () => {
  assert.is(
    derive(Buffer.alloc(22, 0x0b), '').toString('hex'),
    '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d',
  )
})

test.run()
