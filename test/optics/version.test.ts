import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isNewer } from '../../src/optics/version.ts'

const test = suite('the version of the scoring model')

const numbers = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20))
const digest = fc.stringMatching(/^[0-9a-f]{8}$/)
type Numbers = readonly [number, number, number]

const isGreater = (a: Numbers, b: Numbers) => (a[0] !== b[0] ? a[0] > b[0] : a[1] !== b[1] ? a[1] > b[1] : a[2] > b[2])

test('is ordered by its three numbers, regardless of the table digest', () => {
  fc.assert(
    fc.property(numbers, numbers, digest, digest, (one, other, table, otherTable) => {
      const [a, b] = [`${one.join('.')}+${table}`, `${other.join('.')}+${otherTable}`]
      assert.is(isNewer(a, b), isGreater(one, other))
    }),
  )
})

test('is not newer than the same version with another table digest', () => {
  assert.not.ok(isNewer('1.0.0+aaaaaaaa', '1.0.0+bbbbbbbb'))
  assert.not.ok(isNewer('1.0.0', '1.0.0+bbbbbbbb'))
})

test.run()
