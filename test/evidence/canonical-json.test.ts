import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import * as fc from '../fast-check.ts'
import { canonicalJson } from '../../src/evidence/hashes.ts'

const test = suite('canonical JSON')

test('serializes the examples of RFC 8785', () => {
  const first = String.raw`{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}`
  assert.is(
    canonicalJson(JSON.parse(first)),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
  const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
  const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
  const written = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])))
  assert.is(written, `{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`)
})

test('serializes the numbers in the appendix of RFC 8785', () => {
  const numbers: [number, string][] = [
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [-5e-324, '-5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [1e23, '1e+23'],
    [999999999999999900000, '999999999999999900000'],
    [1e21, '1e+21'],
    [0.000001, '0.000001'],
    [333333333.33333343, '333333333.33333343'],
  ]
  for (const [number, text] of numbers) assert.is(canonicalJson(number), text)
})

test('does not depend on the order of members, at any depth', () => {
  assert.is(canonicalJson({ b: [{ d: 1, c: 2 }], a: {} }), '{"a":{},"b":[{"c":2,"d":1}]}')
  assert.is(canonicalJson(JSON.parse('{"__proto__":1,"10":1,"9":1}')), '{"10":1,"9":1,"__proto__":1}')
})

test('parses to the same value, and serializes strings as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = canonicalJson(value)
      assert.equal(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      if (typeof value !== 'object' || value === null) assert.is(text, JSON.stringify(value))
    }),
  )
  for (let unit = 0; unit < 0x10000; unit++) {
    const text = String.fromCharCode(unit)
    assert.is(canonicalJson(text), JSON.stringify(text))
  }
})

test('rejects values that JSON cannot represent', () => {
  for (const value of [undefined, Number.NaN, Infinity, 1n, () => 0, [undefined]]) {
    assert.throws(() => canonicalJson(value), /is not a JSON value/)
  }
})

test.run()
