import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isNewer } from '../../../src/domain/scoring/version.ts'

const test = suite('the version of a scoring model')

const numbers = fc.tuple(fc.nat(20), fc.nat(20), fc.nat(20))
const digest = fc.stringMatching(/^[0-9a-f]{8}$/)
type Numbers = readonly [number, number, number]

const isGreater = (a: Numbers, b: Numbers) => (a[0] !== b[0] ? a[0] > b[0] : a[1] !== b[1] ? a[1] > b[1] : a[2] > b[2])

test('comes after another one by its three numbers, whatever the tables are', () => {
  fc.assert(
    fc.property(numbers, numbers, digest, digest, (one, other, table, otherTable) => {
      const [a, b] = [`${one.join('.')}+${table}`, `${other.join('.')}+${otherTable}`]
      assert.is(isNewer(a, b), isGreater(one, other))
    }),
  )
})

test('is of the same age as itself with another table', () => {
  assert.not.ok(isNewer('1.0.0+aaaaaaaa', '1.0.0+bbbbbbbb'))
  assert.not.ok(isNewer('1.0.0', '1.0.0+bbbbbbbb'))
})

test.run()
