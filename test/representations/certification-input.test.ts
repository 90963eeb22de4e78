import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { LABORATORIES } from '../../src/domain/certification/certification.ts'
import { CERTIFICATION, certificationJson, parseCertification } from '../../src/representations/certification.ts'
import { isJsonObject, PATH_LINKS, pointerToken } from '../../src/representations/json.ts'

const RUNS = process.env['ADAMANT_FULL'] === undefined ? 2_000 : 100_000

const names = fc.constantFrom('product', 'laboratory', 'number', 'file', 'id', 'url', 'warnings', 'Number', '__proto__')
const values = fc.oneof(
  fc.constantFrom<unknown>(...LABORATORIES, ' GIA ', 'gia', `GIA${' '.repeat(200)}`, null, 0, 1, 1.5, 2 ** 53, '', ' '),
  fc.anyText({ maxLength: 70 }),
  fc.jsonValue({ maxDepth: 1 }),
)

/** Mostly valid bodies with a few arbitrary members. As with JSON.parse, `__proto__` is an own property. */
const inputs = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(fc.nat(1), fc.array(fc.tuple(names, values), { maxLength: 2 }))
      .map(([drop, odd]) =>
        Object.fromEntries([...Object.entries({ product: 7, laboratory: 'GIA', number: '12' }).slice(drop), ...odd]),
      ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)

const test = suite('a certification')

test('in a request is parsed, or every invalid member is reported once (property)', () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { value, errors = [] } = parseCertification(input)
      if (value !== undefined) return
      const pointers = errors.map(({ pointer }) => pointer)
      const expected = isJsonObject(input)
        ? [...Object.keys(input), 'product', 'laboratory'].map((name) => `/${pointerToken(name)}`)
        : ['']
      assert.is(new Set(pointers).size, pointers.length)
      for (const pointer of pointers) assert.ok(expected.includes(String(pointer)), `${pointer} is not in the input`)
      assert.ok(pointers.length > 0)
    }),
    { numRuns: RUNS },
  )
  // A fixed sample that contains valid and invalid inputs, so that both cases are tested.
  const some = fc.sample(inputs, { seed: 1, numRuns: 100 })
  assert.equal(new Set(some.map((input) => parseCertification(input).value !== undefined)), new Set([true, false]))
})

test('in a response matches the schema', () => {
  const file = { digest: 'd', bytes: 1, name: null }
  for (const shown of [
    certificationJson({ id: 1, laboratory: 'GIA', number: '2141438171', file }, 0, PATH_LINKS, ['It says otherwise']),
    certificationJson({ id: 2, laboratory: 'HRD', number: null, file: null }, 0, PATH_LINKS),
  ]) {
    CERTIFICATION.strict().parse(JSON.parse(shown))
  }
})

test.run()
