import { create, diamondFold, type LiveDiamond } from '../../../src/domain/diamond/diamond.ts'
import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { visibleText } from '../../../src/domain/visible-text.ts'
import { parseFieldChanges, parseNewDiamond } from '../../../src/representations/diamond/parse-diamond.ts'
import { PATH_LINKS } from '../../../src/representations/json.ts'
import { diamondJson } from '../../../src/representations/diamond/diamond-json.ts'

const stone = { sku: 'A-1', cutShape: 'Round', carat: 0.73 }
const messages = (parsed: { errors?: readonly { message: string }[] | undefined }) =>
  (parsed.errors ?? []).map((fault) => fault.message)
const pointers = (parsed: { errors?: readonly { pointer?: string | undefined }[] | undefined }) =>
  (parsed.errors ?? []).map((fault) => fault.pointer)

const shown = (version: 'v3' | 'v4', diamond: LiveDiamond) =>
  JSON.parse(diamondJson(version, { diamond, scores: null }, PATH_LINKS)) as unknown

const test = suite('the parser of diamonds')

test('reports every missing required field', () => {
  assert.equal(pointers(parseNewDiamond('v4', {}, '/entries/3')), [
    '/entries/3/sku',
    '/entries/3/cutShape',
    '/entries/3/carat',
  ])
})

test('treats null as absent on create', () => {
  assert.equal(parseNewDiamond('v4', { ...stone, price: null, color: null }, '').value, {
    sku: 'A-1',
    cutShape: 2,
    carat: 0.73,
  })
  assert.equal(pointers(parseNewDiamond('v4', { ...stone, sku: null }, '')), ['/sku'])
})

test('reports an unknown field and suggests the closest one', () => {
  assert.match(messages(parseNewDiamond('v4', { ...stone, colour: 'D' }, ''))[0] ?? '', /colour.*did you mean color\?/)
})

test('ignores assigned members', () => {
  const sent = { ...stone, id: 3, date: 'x', certifications: [], scores: {}, _links: [] }
  assert.equal(parseNewDiamond('v4', sent, '').errors, undefined)
  assert.equal(parseNewDiamond('v3', { ...sent, cutShape: 2 }, '').errors, undefined)
})

test('accepts isPublished in v3 only, and the fields added in v4 in v4 only', () => {
  assert.equal(pointers(parseNewDiamond('v4', { ...stone, isPublished: true }, '')), ['/isPublished'])
  const v3 = { ...stone, cutShape: 2 }
  for (const field of ['isLabGrown', 'culetSize', 'girdle', 'access', 'dataAccess']) {
    assert.equal(pointers(parseNewDiamond('v3', { ...v3, [field]: null }, '')), [`/${field}`])
  }
})

test('does not coerce types', () => {
  const wrong = {
    sku: 5,
    cutShape: true,
    carat: '0.73',
    price: '1',
    isColored: 1,
    isLabGrown: 'true',
    access: '0',
    color: 3.5,
  }
  assert.equal(
    pointers(parseNewDiamond('v4', wrong, '')).toSorted(),
    Object.keys(wrong)
      .map((name) => `/${name}`)
      .toSorted(),
  )
})

for (const carat of [0, -1, 10_000.01, Number.POSITIVE_INFINITY, Number.NaN]) {
  test(`rejects ${carat} carat`, () => {
    assert.equal(pointers(parseNewDiamond('v4', { ...stone, carat }, '')), ['/carat'])
  })
}

for (const carat of [Number.MIN_VALUE, 1, 10_000]) {
  test(`accepts ${carat} carat`, () => assert.equal(parseNewDiamond('v4', { ...stone, carat }, '').errors, undefined))
}

test('counts the length of a sku in code points', () => {
  assert.equal(parseNewDiamond('v4', { ...stone, sku: '💎'.repeat(128) }, '').errors, undefined)
  for (const sku of ['', '💎'.repeat(129), 'x'.repeat(129), '\ud83d']) {
    assert.equal(pointers(parseNewDiamond('v4', { ...stone, sku }, '')), ['/sku'])
  }
})

test('accepts an unknown cut shape as text of up to 64 characters', () => {
  assert.is(parseNewDiamond('v4', { ...stone, cutShape: 'Trilliant' }, '').value?.cutShape, 'Trilliant')
  assert.equal(pointers(parseNewDiamond('v4', { ...stone, cutShape: 'x'.repeat(65) }, '')), ['/cutShape'])
  assert.equal(pointers(parseNewDiamond('v4', { ...stone, cutShape: 3 }, '')), ['/cutShape'])
})

test('accepts only ids in v3', () => {
  assert.equal(pointers(parseNewDiamond('v3', { ...stone, color: 'G', clarity: 6 }, '')), ['/cutShape', '/color'])
})

test('allows a change to remove optional fields only', () => {
  assert.equal(parseFieldChanges('v4', { price: null, color: null }, '').value, {
    set: {},
    removed: ['price', 'color'],
  })
  assert.equal(pointers(parseFieldChanges('v4', { sku: null, cutShape: null, carat: null }, '')), [
    '/sku',
    '/cutShape',
    '/carat',
  ])
})

for (const body of [null, [], 'x', 3, true]) {
  test(`rejects ${JSON.stringify(body)}, which is not an object`, () => {
    assert.is(messages(parseNewDiamond('v4', body, '')).length, 1)
    assert.is(messages(parseFieldChanges('v3', body, '')).length, 1)
  })
}

test('never throws, for any JSON value (property)', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => void [parseNewDiamond('v4', value, ''), parseFieldChanges('v3', value, '')]),
  )
})

test('accepts a response that is sent back, with the same meaning, in v3 and v4 (property)', () => {
  const fields = fc.record({
    // Invisible characters are not stored, so they never appear in a response.
    sku: fc
      .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
      .map(visibleText)
      .filter((text) => text !== ''),
    cutShape: fc.oneof(fc.constantFrom(2, 9, 113, 200, 201, 'Trilliant', '</script>\u2028"')),
    carat: fc.double({ min: 0.001, max: 10_000, noNaN: true }),
    price: fc.option(fc.double({ min: 0, max: 1e15, noNaN: true }), { nil: null }),
    isColored: fc.boolean(),
    clarity: fc.option(fc.integer({ min: 1, max: 17 }), { nil: null }),
    color: fc.option(fc.integer({ min: 15, max: 37 }), { nil: null }),
    colorHue: fc.constantFrom(null, 11, 20, 24, 30, 56),
    fancyGrade: fc.constantFrom(null, 8, 9),
    girdle: fc.constantFrom(null, 'Thin', 'Thin-Thick'),
    culetSize: fc.constantFrom(null, 'N', 'EL'),
    access: fc.constantFrom(0 as const, 1 as const, 2 as const),
  })
  fc.assert(
    fc.property(fields, (set) => {
      fc.pre(set.sku.length <= 128)
      const diamond = diamondFold.evolve(diamondFold.initialState, create(1, 7, set, 0))
      if (diamond.status !== 'live') throw new Error('a created diamond is live')
      const v4 = parseNewDiamond('v4', shown('v4', diamond), '')
      assert.equal(v4.errors, undefined)
      assert.equal(
        diamondFold.evolve(diamondFold.initialState, create(1, 7, v4.value ?? { sku: '', cutShape: '', carat: 1 }, 0)),
        diamond,
      )
      assert.equal(parseNewDiamond('v3', shown('v3', diamond), '').errors, undefined)
    }),
  )
})

test.run()
