import {
  attachModel,
  detachModel,
  diamondDecider,
  remove,
  type Diamond,
  type DiamondEvent,
  type LiveDiamond,
} from '../../../src/domain/diamond/diamond.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/decider.ts'
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
  events.reduce(diamondDecider.evolve, diamondDecider.initialState)
const refuses = (kind: string, message: string) => (error: unknown) =>
  error instanceof RequestError && error.kind === kind && error.message === message

const test = suite("a stone's own body")

test('is attached once, and takes the place of another one', () => {
  assert.equal(attachModel(folded(CREATED), AT, model()), [attached(model())])
  assert.equal(attachModel(folded(CREATED, attached(model())), AT, model()), [])
  assert.equal(attachModel(folded(CREATED, attached(model())), AT, OTHER), [REMOVED, attached(OTHER)])
})

test('is removed where there is one', () => {
  const diamond = folded(CREATED, attached(model()))
  assert.equal(detachModel(diamond, AT), [REMOVED])
  assert.equal(diamondDecider.evolve(diamond, REMOVED), folded(CREATED))
  assert.throws(() => detachModel(folded(CREATED), AT), refuses('missing', 'Diamond 1 has no model'))
})

test('goes with its stone, and says so', () => {
  assert.equal(remove(folded(CREATED, attached(model())), 1, 7), [REMOVED, { type: 'DiamondDeleted', data: {} }])
})

test("is its owner's alone, and of a stone that there is", () => {
  for (const decide of [attachModel, detachModel]) {
    const foreign = refuses('forbidden', 'Diamond 1 belongs to another account')
    assert.throws(() => decide(folded(CREATED, attached(model())), { ...AT, owner: 8 }, OTHER), foreign)
    assert.throws(() => decide(diamondDecider.initialState, AT, OTHER), refuses('missing', 'There is no diamond 1'))
  }
})

test('changes nothing of what is no stone any more', () => {
  const deleted = folded(CREATED, { type: 'DiamondDeleted', data: {} })
  assert.equal(diamondDecider.evolve(deleted, attached(model())), deleted)
})

test('may weigh two of a hundred more or less than its stone without a word', () => {
  assert.equal(modelWarnings(model({ carat: 1.02 }), { carat: 1 }), [])
  assert.equal(modelWarnings(model({ carat: 0.98 }), { carat: 1 }), [])
  const says = (carat: number) => [`The model's volume is that of a diamond of ${carat} carats, not of 1`]
  assert.equal(modelWarnings(model({ carat: 1.021 }), { carat: 1 }), says(1.021))
  assert.equal(modelWarnings(model({ carat: 0.979 }), { carat: 1 }), says(0.979))
})

test('says where its planes had to be taken together', () => {
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

for (const [what, cutShape, length, fold] of [
  ['a round of eight', 2, 6.5, 8],
  ['a square princess of four', 4, 6.56, 4],
  ['a longer princess of two', 4, 6.57, 2],
  ['a square cushion of four', 9, 6.5, 4],
  ['a square modified cushion of four', 201, 6.5, 4],
  ['a square radiant of four', 83, 6.5, 4],
  ['an asscher of four', 92, 6.5, 4],
  ['an oval of two, even as wide as long', 11, 6.5, 2],
  ['a marquise of two', 80, 12, 2],
  ['an emerald of two', 90, 9, 2],
  ['a pear of one', 22, 9, 1],
  ['a heart of one', 85, 6.5, 1],
  ['a trillion of one', 'Trillion', 6.5, 1],
  ['a rose of two', 'Rose cut', 6.5, 2],
  ['a briolette, of which any side may look up, of none', 'Briolette', 6.5, undefined],
  ['a shape that nobody knows of none', 'my own', 6.5, undefined],
] as const) {
  test(`is made of as many alike parts as its shape: ${what}`, () =>
    assert.is(symmetryFoldOf(live(cutShape, length)), fold))
}

test('is what its stone is scored from, in the place of what a report measured', () => {
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
