import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { DiamondFilter } from '../../src/projections/diamonds/list-attributes.ts'
import { areEmbedded } from '../engines.ts'
import { withStores } from '../open-stores.ts'
import { assertModelMatchesLog } from '../projections/engine/inventory-on-disk.ts'
import {
  toRequestBody,
  change,
  CLARITIES,
  etagOf,
  score,
  SHAPES,
  representationOf,
  interpret,
  type Fields,
  type ModelStone,
  type Version,
} from './reference-model.ts'
import { RealInventory } from './real-inventory.ts'

const FULL = process.env['ADAMANT_FULL'] === '1'

/** Other engines need ten times as long for each run. */
const RUNS = FULL ? 500 : areEmbedded ? 40 : 8

type Model = { readonly stones: Map<number, ModelStone>; readonly dates: number[] }
type Step = fc.AsyncCommand<Model, RealInventory>

const EMPTY = { price: null, isColored: false, isPublished: false, clarity: null, girdle: null }
const COUNTERS = { revision: 0, scoredFrom: 0, computed: 0, scored: 0, score: null }

const stonesOf = ({ stones }: Model, owner: number) =>
  [...stones.values()].filter((stone) => stone.owner === owner).toSorted((a, b) => b.date - a.date || b.id - a.id)

/** The stones of an owner that the numbers select, without duplicates. */
const picked = (model: Model, owner: number, at: readonly number[]): ModelStone[] => {
  const own = stonesOf(model, owner)
  return [...new Set(at.flatMap((number) => own[number % Math.max(own.length, 1)] ?? []))]
}

const step = (name: string, run: Step['run'], check: Step['check'] = () => true): Step => ({
  check,
  run,
  toString: () => name,
})

const create = (version: Version, owner: number, entries: readonly Fields[]) =>
  step(`create ${version} of ${owner} ${JSON.stringify(entries)}`, async (model, real) => {
    const completed = entries.map((fields) => ({ sku: 'X', cutShape: 'Round' as const, ...fields }))
    const bodies = completed.map((fields) => ({ ...toRequestBody(version, fields), carat: 1 }))
    for (const [index, id] of (await real.create(version, owner, bodies)).entries()) {
      const fields = { ...EMPTY, sku: 'X', cutShape: 'Round' as const, ...interpret(version, completed[index] ?? {}) }
      model.stones.set(id, { id, owner, date: real.now, ...fields, ...COUNTERS })
    }
    model.dates.push(real.now)
  })

const patch = (version: Version, owner: number, at: readonly (readonly [at: number, fields: Fields])[]) =>
  step(
    `patch ${version} of ${owner} ${JSON.stringify(at)}`,
    async (model, real) => {
      const stones = picked(
        model,
        owner,
        at.map(([number]) => number),
      )
      const changes = stones.map((stone, index) => [stone, at[index]?.[1] ?? {}] as const)
      await real.change(
        version,
        owner,
        changes.map(([{ id }, fields]) => [id, toRequestBody(version, fields)] as const),
      )
      for (const [stone, fields] of changes) change(stone, version, fields)
    },
    (model) => stonesOf(model, owner).length > 0,
  )

const remove = (owner: number, at: readonly number[]) =>
  step(
    `remove of ${owner} ${at.join()}`,
    async (model, real) => {
      const ids = picked(model, owner, at).map(({ id }) => id)
      await real.remove(owner, ids)
      for (const id of ids) model.stones.delete(id)
    },
    (model) => stonesOf(model, owner).length > 0,
  )

const scoring = (owner: number, at: number, back: number, value: number) =>
  step(
    `score ${value} of ${owner} ${at}, ${back} back`,
    async (model, real) => {
      for (const stone of picked(model, owner, [at])) {
        const revision = Math.max(0, stone.revision - back)
        await real.score(stone.id, revision, value)
        score(stone, revision, value)
      }
    },
    (model) => stonesOf(model, owner).length > 0,
  )

const later = (seconds: number) => step(`${seconds} s later`, async (_model, real) => void (real.now += seconds))
const restart = () => step('restart', (_model, real) => real.restart())
const rebuild = () => step('rebuild', (_model, real) => real.rebuild())
const compareLists = (owner: number) => step(`look at ${owner}`, (model, real) => assertAgrees(model, real, owner))

/** Every filter, with values that match some stones, and its meaning. */
function filtersFor(model: Model, owner: number): (readonly [DiamondFilter, (stone: ModelStone) => boolean])[] {
  const ids = [...model.stones.keys()].slice(0, 3)
  const [from = 0, to = 0] = [model.dates[0], model.dates.at(-1)]
  return [
    [{}, () => true],
    [{ isColored: true }, (stone) => stone.isColored],
    [{ isColored: false }, (stone) => !stone.isColored],
    [{ isPublished: true }, (stone) => stone.isPublished],
    [{ isColored: false, isPublished: false }, (stone) => !stone.isColored && !stone.isPublished],
    [{ sku: ['X', 'Y'] }, (stone) => ['X', 'Y'].includes(stone.sku)],
    [{ sku: ['Z'], isColored: true }, (stone) => stone.sku === 'Z' && stone.isColored],
    [{ date: { from, to } }, ({ date }) => date >= from && date <= to],
    [{ date: { from: to }, isPublished: true }, (stone) => stone.date >= to && stone.isPublished],
    ...(ids.length > 0 ? [[{ id: ids }, ({ id }: ModelStone) => ids.includes(id)] as const] : []),
    [{ id: [owner + 1_000_000] }, () => false],
  ]
}

const comparable = (version: Version, body: Readonly<Record<string, unknown>>) => {
  const { id, sku, price, isColored, isPublished, cutShape, clarity, girdle, scores } = body
  const integral = (scores as { integral: { val: number } | null }).integral
  const both = { id, sku, price, isColored, cutShape, clarity, score: integral?.val ?? null }
  return version === 'v4' ? { ...both, girdle } : { ...both, isPublished }
}

async function assertAgrees(model: Model, real: RealInventory, owner: number): Promise<void> {
  assert.ok(await real.caughtUp())
  const own = stonesOf(model, owner)
  for (const version of ['v3', 'v4'] as const) {
    for (const [filter, matches] of filtersFor(model, owner)) {
      const { total, diamonds } = await real.list(version, owner, filter)
      const expected = own.filter(matches).map((stone) => representationOf(version, stone))
      assert.equal(
        diamonds.map((body) => comparable(version, body)),
        expected,
        JSON.stringify(filter),
      )
      assert.is(total, expected.length, JSON.stringify(filter))
    }
    for (const stone of own) {
      const found = await real.one(version, stone.id)
      assert.equal([found?.owner, found?.etag], [owner, etagOf(stone)])
      assert.equal(comparable(version, found?.body ?? {}), representationOf(version, stone))
    }
  }
}

const fields: fc.Arbitrary<Fields> = fc.record(
  {
    sku: fc.constantFrom('X', 'Y', 'Z'),
    price: fc.constantFrom(null, 0, 7.5),
    isColored: fc.boolean(),
    isPublished: fc.boolean(),
    cutShape: fc.constantFrom(...(Object.keys(SHAPES) as (keyof typeof SHAPES)[])),
    clarity: fc.constantFrom(null, ...(Object.keys(CLARITIES) as (keyof typeof CLARITIES)[])),
    girdle: fc.constantFrom(null, 'Thin' as const),
  },
  { requiredKeys: [] },
)
const version = fc.constantFrom<Version>('v3', 'v4')
const owner = fc.constantFrom(1, 2)
const at = fc.nat(3)

const steps = fc.commands(
  [
    fc.tuple(version, owner, fc.array(fields, { minLength: 1, maxLength: 4 })).map((args) => create(...args)),
    fc
      .tuple(
        version,
        owner,
        fc.tuple(at, fields).map((one) => [one]),
      )
      .map((args) => patch(...args)),
    fc
      .tuple(version, owner, fc.array(fc.tuple(at, fields), { minLength: 2, maxLength: 5 }))
      .map((args) => patch(...args)),
    fc.tuple(owner, fc.array(at, { minLength: 1, maxLength: 2 })).map((args) => remove(...args)),
    fc.tuple(owner, at, fc.nat(1), fc.nat(9)).map((args) => scoring(...args)),
    // A stone with outdated scores, followed by scores of an older revision.
    fc
      .tuple(owner, at, fc.constantFrom<Fields>({ girdle: 'Thin' }, { girdle: null }))
      .map(([account, which, fields]) => patch('v4', account, [[which, fields]])),
    fc.tuple(owner, at, fc.constant(1), fc.nat(9)).map((args) => scoring(...args)),
    fc.constantFrom(0, 1, 3600).map(later),
    fc.constant(restart()),
    fc.constant(rebuild()),
    owner.map(compareLists),
  ],
  { maxCommands: FULL ? 80 : 30, size: 'max' },
)

const test = suite('an inventory')

test('equals the reference model and a fold of its log after any sequence of commands', () =>
  fc.assert(
    fc.asyncProperty(steps, (sequence) =>
      withStores(async (stores) => {
        const real = new RealInventory(stores)
        const model: Model = { stones: new Map(), dates: [] }
        try {
          await fc.asyncModelRun(() => ({ model, real }), sequence)
          for (const account of [1, 2]) {
            await assertAgrees(model, real, account)
            await assertModelMatchesLog(stores, account)
          }
        } finally {
          await real.stop()
        }
      }),
    ),
    { numRuns: RUNS },
  ))

test.run()
