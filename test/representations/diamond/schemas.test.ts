import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ApiVersion } from '../../../src/domain/diamond/field.ts'
import {
  DICTIONARIES,
  FIELD_NAMES,
  FIELDS,
  memberNameOf,
  PROPORTION_FIELDS,
  REQUIRED_FIELDS,
  type FieldName,
} from '../../../src/domain/diamond/fields.ts'
import { isJsonObject, pointerToken } from '../../../src/representations/json.ts'
import { diamondJson } from '../../../src/representations/diamond/diamond-json.ts'
import { parseFieldChanges, parseNewDiamond } from '../../../src/representations/diamond/parse-diamond.ts'
import { ASSIGNED_MEMBERS, DIAMOND } from '../../../src/representations/diamond/schemas.ts'
import { FIELD_DESCRIPTIONS } from '../../../src/representations/diamond/field-descriptions.ts'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'

const RUNS = process.env['ADAMANT_FULL'] === undefined ? 2_000 : 100_000

const spellings = Object.values(DICTIONARIES).flatMap(({ all }) =>
  all.flatMap(({ id, title, short }) => [id, title, short]),
)

/** Values, many of which are valid for some field. */
const value = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...spellings) },
  { weight: 4, arbitrary: fc.constantFrom<unknown>(null, true, false, 0, 1, 2, -0, -1, 0.5, 10_000, 1e308, Infinity) },
  { weight: 3, arbitrary: fc.constantFrom('Round', ' round ', 'Rund', 'thn-thk', 'Thin-', 'vs', 'Trilliant', '113') },
  { weight: 1, arbitrary: fc.anyText({ maxLength: 140 }) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
)

const OWN_MEMBERS = FIELD_NAMES.filter((each) => memberNameOf(each) === each)

const name = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom<string>(...OWN_MEMBERS, 'proportions') },
  { weight: 2, arbitrary: fc.constantFrom(...ASSIGNED_MEMBERS) },
  { weight: 1, arbitrary: fc.constantFrom('colour', 'constructor', '__proto__', 'toString', '') },
)

const exampleOf = (each: FieldName) => fc.constant(FIELD_DESCRIPTIONS[each].example as unknown)

const VALID_PROPORTIONS = fc.record(
  Object.fromEntries(PROPORTION_FIELDS.map((each) => [memberNameOf(each), exampleOf(each)])),
  { requiredKeys: [] },
)

/** Valid values for each member, so that enough bodies are valid. */
const VALID = fc.record<Record<string, unknown>>(
  { ...Object.fromEntries(OWN_MEMBERS.map((each) => [each, exampleOf(each)])), proportions: VALID_PROPORTIONS },
  { requiredKeys: ['sku', 'cutShape', 'carat'] },
)

/** A value for one member, which may be a proportion. */
const extraMember = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(name, value) },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constant('proportions'),
      fc.dictionary(fc.constantFrom(...PROPORTION_FIELDS.map(memberNameOf), 'tabel', '__proto__'), value),
    ),
  },
)

const bodies = fc.tuple(VALID, fc.array(extraMember, { maxLength: 3 }), fc.nat(3)).map(([valid, extra, drop]) => {
  const remaining = Object.fromEntries(Object.entries(valid).slice(drop))
  // As with JSON.parse, `__proto__` is an own property.
  return Object.fromEntries([...Object.entries(remaining), ...extra])
})

/** v3 accepts ids, not titles. */
const asIds = (body: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(body).flatMap(([each, given]) => {
      if (each === 'proportions') return []
      if (given !== (FIELD_DESCRIPTIONS as Record<string, { example: unknown }>)[each]?.example) return [[each, given]]
      const field = (FIELDS as Record<string, (typeof FIELDS)[keyof typeof FIELDS]>)[each]
      if (field === undefined || !(field.versions as readonly string[]).includes('v3')) return []
      if (field.kind === 'shape') return [[each, 2]]
      return [[each, field.kind === 'entry' ? field.dictionary.find(String(given)) : given]]
    }),
  )

/** v4 has no isPublished. */
const inV4 = ({ isPublished: _v3, ...rest }: Record<string, unknown>) => rest

const inputs: Readonly<Record<ApiVersion, fc.Arbitrary<unknown>>> = {
  v3: fc.oneof({ weight: 9, arbitrary: bodies.map(asIds) }, { weight: 1, arbitrary: fc.jsonValue() }),
  v4: fc.oneof({ weight: 9, arbitrary: bodies.map(inV4) }, { weight: 1, arbitrary: fc.jsonValue() }),
}

/** Paths of the members of `proportions`. */
const proportionsOf = ({ proportions }: Readonly<Record<string, unknown>>) =>
  isJsonObject(proportions) ? Object.keys(proportions).map((each) => `proportions/${pointerToken(each)}`) : []

const test = suite('a diamond')

/** A fixed sample that contains valid and invalid inputs, so that both cases are tested. */
const FIXED_SAMPLE = { seed: 1, numRuns: 100 }

for (const version of ['v3', 'v4'] as const) {
  for (const [action, parse] of Object.entries({ create: parseNewDiamond, change: parseFieldChanges })) {
    test(`in a ${version} ${action} request is parsed, or every invalid member is reported once (property)`, () => {
      fc.assert(
        fc.property(inputs[version], (input) => {
          const { value, errors = [] } = parse(version, input, '')
          if (value !== undefined) return
          const pointers = errors.map(({ pointer }) => pointer)
          const expected = isJsonObject(input)
            ? [...Object.keys(input).map(pointerToken), ...REQUIRED_FIELDS, ...proportionsOf(input)].map(
                (each) => `/${each}`,
              )
            : ['']
          assert.is(new Set(pointers).size, pointers.length, JSON.stringify(errors))
          for (const pointer of pointers)
            assert.ok(expected.includes(String(pointer)), `${pointer} is not in the input`)
          assert.ok(pointers.length > 0)
        }),
        { numRuns: RUNS },
      )
      const isValid = (input: unknown) => parse(version, input, '').value !== undefined
      assert.equal(new Set(fc.sample(inputs[version], FIXED_SAMPLE).map(isValid)), new Set([true, false]))
    })
  }

  test(`in a ${version} response matches the schema`, () => {
    const diamond = {
      status: 'live' as const,
      id: 337,
      owner: 7,
      date: 1_417_122_660,
      fields: withDefaults({
        sku: 'A-1',
        cutShape: 200,
        carat: 0.73,
        color: 18,
        girdle: 'Thin',
        access: 1,
        'proportions.depth': 60,
        'proportions.crownHeight': 55,
      }),
      certifications: [{ id: 5, laboratory: 'GIA' as const, number: '1', file: null, reading: null }],
      serviceEventsSinceOwnerChange: 0,
      warningsSinceOwnerChange: 0,
      accessRevisions: { access: 0, dataAccess: 0 },
    }
    const links = {
      plain: (path: string) => `https://api.example.com${path}`,
      signed: (path: string) => `https://api.example.com${path}`,
    }
    const body = diamondJson(version, { diamond, scores: null }, links)
    assert.equal(DIAMOND[version].safeParse(JSON.parse(body)).error, undefined)
  })
}

test.run()
