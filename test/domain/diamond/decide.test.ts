import {
  create,
  diamondFold,
  patch,
  remove,
  type Diamond,
  type DiamondEvent,
} from '../../../src/domain/diamond/diamond.ts'
import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DiamondFieldChanges, NewDiamond } from '../../../src/domain/diamond/fields.ts'
import { RequestError } from '../../../src/domain/request-error.ts'

const OWNER = 7
const stone: NewDiamond = { sku: 'A-1', cutShape: 2, carat: 0.73, color: 18, isColored: true }
const given = (...events: DiamondEvent[]): Diamond => events.reduce(diamondFold.evolve, diamondFold.initialState)
const born = () => create(337, OWNER, stone, 1_417_122_660_999)
const change = (
  set: DiamondFieldChanges['set'],
  removed: DiamondFieldChanges['removed'] = [],
): DiamondFieldChanges => ({ set, removed })
const byRoot = (cutShape: number): DiamondFieldChanges => ({ set: { cutShape }, removed: [], shapeByRoot: true })
const refused = (kind: string) => (error: unknown) => error instanceof RequestError && error.kind === kind

const test = suite('a diamond')

test('is created with the given fields, a date in whole seconds and its owner', () => {
  assert.equal(born(), { type: 'DiamondCreated', data: { id: 337, owner: OWNER, date: 1_417_122_660, set: stone } })
})

test('is created without the fields that equal their defaults', () => {
  const event = create(1, OWNER, { ...stone, price: null, access: 0, isLabGrown: false }, 0)
  assert.equal(event.data.set, stone)
})

test('keeps the fields that a patch does not mention', () => {
  const diamond = given(born(), ...patch(given(born()), 337, OWNER, change({ price: 5 })))
  assert.is(diamond.status === 'live' && diamond.fields.price, 5)
  assert.is(diamond.status === 'live' && diamond.fields.color, 18)
})

test('has the default of a removed field', () => {
  const diamond = given(born(), ...patch(given(born()), 337, OWNER, change({}, ['color', 'isColored'])))
  assert.is(diamond.status === 'live' && diamond.fields.color, null)
  assert.is(diamond.status === 'live' && diamond.fields.isColored, false)
})

test('gets no event for a patch that changes nothing', () => {
  assert.equal(patch(given(born()), 337, OWNER, change({ sku: 'A-1', carat: 0.73 }, ['price'])), [])
})

test('can be changed and deleted by its owner only', () => {
  assert.throws(() => patch(given(born()), 337, 8, change({ price: 1 })), refused('forbidden'))
  assert.throws(() => remove(given(born()), 337, 8), refused('forbidden'))
})

test('that was deleted is missing, even for its owner', () => {
  const deleted = given(born(), ...remove(given(born()), 337, OWNER))
  assert.throws(() => patch(deleted, 337, OWNER, change({ price: 1 })), refused('missing'))
  assert.throws(() => remove(deleted, 337, OWNER), refused('missing'))
})

test('that never existed is missing', () => {
  assert.throws(() => remove(diamondFold.initialState, 1, OWNER), refused('missing'))
})

test('keeps a child shape or a text when a client that knows only top-level shapes sends back its root', () => {
  const modified = given(create(1, OWNER, { ...stone, cutShape: 201 }, 0))
  assert.equal(patch(modified, 1, OWNER, byRoot(9)), [])
  const other = given(create(1, OWNER, { ...stone, cutShape: 'Trilliant' }, 0))
  assert.equal(patch(other, 1, OWNER, byRoot(113)), [])
  assert.is(patch(modified, 1, OWNER, change({ cutShape: 9 })).length, 1)
  assert.is(patch(modified, 1, OWNER, byRoot(2)).length, 1)
})

test('is not changed by an event that this release does not know', () => {
  const later = { type: 'DiamondPolished', data: {} } as unknown as DiamondEvent
  assert.equal(given(born(), later), given(born()))
})

test('has the last patched value of each field (property)', () => {
  const sets = fc.record(
    {
      sku: fc.string({ minLength: 1, maxLength: 20 }),
      price: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: null }),
      isColored: fc.boolean(),
      color: fc.option(fc.integer({ min: 15, max: 37 }), { nil: null }),
      carat: fc.double({ min: 0.01, max: 100, noNaN: true }),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(sets, { maxLength: 10 }), (patches) => {
      let diamond = given(born())
      const expected: Record<string, unknown> = diamond.status === 'live' ? { ...diamond.fields } : {}
      for (const set of patches) {
        diamond = patch(diamond, 337, OWNER, change(set)).reduce<Diamond>(diamondFold.evolve, diamond)
        Object.assign(expected, set)
      }
      assert.equal(diamond.status === 'live' && diamond.fields, expected)
    }),
  )
})

test.run()
