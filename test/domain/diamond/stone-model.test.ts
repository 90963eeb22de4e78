import {
  attachModel,
  detachModel,
  diamondFold,
  remove,
  type Diamond,
  type DiamondEvent,
  type LiveDiamond,
} from '../../../src/domain/diamond/diamond.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'
import { symmetryFoldOf, stoneOfOwnModel } from '../../../src/domain/diamond/scored-stone.ts'
import { modelWarnings, type StoneModel } from '../../../src/domain/diamond/stone-model.ts'

const CREATED: DiamondEvent = {
  type: 'DiamondCreated',
  data: { id: 1, owner: 7, date: 0, set: { sku: 'A', cutShape: 2, carat: 1 } },
}
const model = (own: Partial<StoneModel> = {}): StoneModel => ({
  format: 'OFF',
  facets: 57,
  planes: { count: 57, within: 0.05 },
  carat: 1,
  measurements: { length: 6.5, width: 6.5, depth: 4 },
  file: { digest: 'a'.repeat(64), bytes: 9 },
  ...own,
})
const OTHER = model({ file: { digest: 'b'.repeat(64), bytes: 9 } })
const attached = (data: StoneModel): DiamondEvent => ({ type: 'StoneModelAttached', data })
const REMOVED: DiamondEvent = { type: 'StoneModelRemoved', data: { digest: 'a'.repeat(64) } }
const AT = { id: 1, owner: 7 }

const folded = (...events: readonly DiamondEvent[]): Diamond =>
  events.reduce(diamondFold.evolve, diamondFold.initialState)
const refuses = (kind: string, message: string) => (error: unknown) =>
  error instanceof RequestError && error.kind === kind && error.message === message

const test = suite('the 3D model of a diamond')

test('is attached once, and replaces a different one', () => {
  assert.equal(attachModel(folded(CREATED), AT, model()), [attached(model())])
  assert.equal(attachModel(folded(CREATED, attached(model())), AT, model()), [])
  assert.equal(attachModel(folded(CREATED, attached(model())), AT, OTHER), [REMOVED, attached(OTHER)])
})

test('can be removed if there is one', () => {
  const diamond = folded(CREATED, attached(model()))
  assert.equal(detachModel(diamond, AT), [REMOVED])
  assert.equal(diamondFold.evolve(diamond, REMOVED), folded(CREATED))
  assert.throws(() => detachModel(folded(CREATED), AT), refuses('missing', 'Diamond 1 has no model'))
})

test('is removed by a separate event when its diamond is deleted', () => {
  assert.equal(remove(folded(CREATED, attached(model())), 1, 7), [REMOVED, { type: 'DiamondDeleted', data: {} }])
})

test('can be changed only on an existing diamond, by its owner', () => {
  for (const decide of [attachModel, detachModel]) {
    const foreign = refuses('forbidden', 'Diamond 1 belongs to another account')
    assert.throws(() => decide(folded(CREATED, attached(model())), { ...AT, owner: 8 }, OTHER), foreign)
    assert.throws(() => decide(diamondFold.initialState, AT, OTHER), refuses('missing', 'There is no diamond 1'))
  }
})

test('does not change a deleted diamond', () => {
  const deleted = folded(CREATED, { type: 'DiamondDeleted', data: {} })
  assert.equal(diamondFold.evolve(deleted, attached(model())), deleted)
})

test('causes no warning if its weight is within 2 % of the diamond', () => {
  assert.equal(modelWarnings(model({ carat: 1.02 }), { carat: 1 }), [])
  assert.equal(modelWarnings(model({ carat: 0.98 }), { carat: 1 }), [])
  const volumeWarnings = (carat: number) => [`The model's volume is that of a diamond of ${carat} carats, not of 1`]
  assert.equal(modelWarnings(model({ carat: 1.021 }), { carat: 1 }), volumeWarnings(1.021))
  assert.equal(modelWarnings(model({ carat: 0.979 }), { carat: 1 }), volumeWarnings(0.979))
})

test('causes a warning if planes had to be merged', () => {
  assert.equal(modelWarnings(model({ planes: { count: 312, within: 0.8 } }), { carat: 1 }), [
    'Scores are computed from 312 planes: the model has more, so neighbouring facets within 0.8° were merged',
  ])
})

const live = (cutShape: number | string, length = 6.5): LiveDiamond => {
  const diamond = folded(
    { ...CREATED, data: { ...CREATED.data, set: { ...CREATED.data.set, cutShape } } },
    attached(model({ measurements: { length, width: 6.5, depth: 4 } })),
  )
  assert.is(diamond.status, 'live')
  return diamond as LiveDiamond
}

for (const [name, cutShape, length, fold] of [
  ['8-fold for a round', 2, 6.5, 8],
  ['4-fold for a square princess', 4, 6.56, 4],
  ['2-fold for a longer princess', 4, 6.57, 2],
  ['4-fold for a square cushion', 9, 6.5, 4],
  ['4-fold for a square modified cushion', 201, 6.5, 4],
  ['4-fold for a square radiant', 83, 6.5, 4],
  ['4-fold for an asscher', 92, 6.5, 4],
  ['2-fold for an oval, even if it is as wide as long', 11, 6.5, 2],
  ['2-fold for a marquise', 80, 12, 2],
  ['2-fold for an emerald', 90, 9, 2],
  ['1-fold for a pear', 22, 9, 1],
  ['1-fold for a heart', 85, 6.5, 1],
  ['1-fold for a trillion', 'Trillion', 6.5, 1],
  ['2-fold for a rose', 'Rose cut', 6.5, 2],
  ['undefined for a briolette, which has no fixed upper side', 'Briolette', 6.5, undefined],
  ['undefined for an unknown shape', 'my own', 6.5, undefined],
] as const) {
  test(`has an expected symmetry: ${name}`, () => assert.is(symmetryFoldOf(live(cutShape, length)), fold))
}

test('is the input of scoring instead of the measurements in a report', () => {
  const read: DiamondEvent[] = [
    { type: 'CertificationAttached', data: { id: 3, laboratory: 'GIA', number: null, file: null } },
    {
      type: 'ReportRead',
      data: {
        certification: 3,
        reading: {
          number: null,
          carat: null,
          measurements: { length: 6.4, width: 6.4, depth: 3.9 },
          table: 57,
          depth: 61,
          crownAngle: 34,
          pavilionAngle: 41,
          girdle: null,
          star: null,
          lower: null,
          laboratory: null,
          shape: null,
          isLabGrown: null,
          unclear: [],
        },
      },
    },
  ]
  const measured = folded(CREATED, attached(model()), ...read) as LiveDiamond
  assert.equal(stoneOfOwnModel(measured), { shape: 'Round', carat: 1, ownFacets: true })
})

test.run()
