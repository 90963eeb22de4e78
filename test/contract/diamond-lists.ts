import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { clarity as clarities, color as colors } from '../../src/domain/dictionaries/colors.ts'
import { withDefaults } from '../../src/domain/diamond/fields.ts'
import type { Scores } from '../../src/optics/scores.ts'
import { RequestError } from '../../src/domain/request-error.ts'
import type { DiamondView } from '../../src/projections/diamonds/diamond-view.ts'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { documentsOf, nextCursorOf, nearestServedListOf, totalOf } from '../../src/projections/diamonds/list-pages.ts'
import { SORTS, type DiamondFilter, type FilterRange } from '../../src/projections/diamonds/list-attributes.ts'
import {
  MAX_ENTRIES_SCANNED,
  parseSort,
  planList,
  type DiamondPageRequest,
  type KeysetCursor,
} from '../../src/projections/diamonds/list-plan.ts'
import type { ReadModel } from '../../src/stores/ports/read-store.ts'
import { at, put, using, type OpenedReadStore } from './read-store/model.ts'

/** Attempts to generate enough rejected lists; one is nearly always enough. */
const MAX_ROUNDS = 6

/**
 * Checks for an adapter that lists of diamonds with any filter and order equal an evaluation in memory.
 * @param runs number of generated inventories, each with several queries
 */
export function diamondListsContract(
  name: string,
  open: () => Promise<OpenedReadStore>,
  runs = process.env['ADAMANT_FULL'] === '1' ? 200 : 25,
): void {
  const test = suite(`lists of diamonds (${name})`)

  const property = (maxScanned: fc.Arbitrary<number>, check: (list: StoredList) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(views, fc.array(queries, { minLength: 1, maxLength: 12 }), maxScanned, (stored, all, bound) =>
        using(open, async ({ store }) => {
          const build = await store.live(diamonds.declaration)
          await build.write(
            stored.map((view) => put(documentOf(view))),
            at(1),
          )
          const model = await store.model(diamonds.declaration)
          for (const query of all) await check({ ...query, model, stored, maxScanned: bound })
        })(),
      ),
      { numRuns: runs, includeErrorInReport: true },
    )

  test('equal an evaluation in memory, with offset and with keyset pagination', async () => {
    await property(fc.constant(MAX_ENTRIES_SCANNED), async (list) => {
      const expected = idsOf(list)
      assert.is(await total(list), expected.length)
      const { offset, limit } = list
      assert.equal((await page(list, { offset, limit })).ids, expected.slice(offset, offset + limit), textOf(list))
      assert.equal(await allPages(list), expected, textOf(list))
    })
  })

  test('are correct or rejected if few entries may be scanned, and the suggested list is served', async () => {
    let [served, rejected] = [0, 0]
    const isEnough = () => served > runs && rejected > runs / 2
    const check = async (list: StoredList) => {
      const found = await total(list).catch((error: unknown) => error)
      if (typeof found === 'number') {
        served++
        assert.is(found, idsOf(list).length, textOf(list))
        assert.equal(await allPages(list), idsOf(list), textOf(list))
        assert.ok(scannedAtLeast(list) <= list.maxScanned, textOf(list))
      } else {
        rejected++
        assert.ok(found instanceof RequestError && found.kind === 'invalid', String(found))
        assert.ok(list.stored.length > list.maxScanned)
        const suggested = { ...list, ...nearestServedListOf(list.filter, list.sort) }
        assert.is(await total(suggested), idsOf(suggested).length, textOf(suggested))
      }
    }
    // How many of the generated lists are rejected is random, and sometimes too few in the first round.
    for (let round = 0; round < MAX_ROUNDS && !isEnough(); round++) await property(fc.nat({ max: 4 }), check)
    assert.ok(isEnough(), `${served} served, ${rejected} rejected`)
  })

  test.run()
}

type GeneratedQuery = {
  readonly filter: DiamondFilter
  readonly sort: (typeof SORTS)[number]
  readonly offset: number
  readonly limit: number
}
type StoredList = GeneratedQuery & {
  readonly model: ReadModel
  readonly stored: readonly DiamondView[]
  readonly maxScanned: number
}

const OWNER = 1
const textOf = ({ filter, sort, offset, limit }: GeneratedQuery) => JSON.stringify({ filter, sort, offset, limit })

const planOf = ({ filter, sort, maxScanned }: StoredList, after?: KeysetCursor) =>
  planList(OWNER, filter, { sort, ...(after && { after }) }, maxScanned)

const total = async (list: StoredList) => (await totalOf(list.model, requestOf(list), planOf(list))).total

const requestOf = ({ filter, sort }: GeneratedQuery) => ({ filter, page: { limit: 1, offset: 0, sort } })

async function page(list: StoredList, part: DiamondPageRequest) {
  const one: DiamondPageRequest = { ...part, sort: list.sort }
  const select = ['id', parseSort(list.sort).field]
  const { plan } = await totalOf(list.model, requestOf(list), planOf(list, one.after))
  const found = await documentsOf(list.model, plan, one, select)
  return { ids: found.slice(0, one.limit).map(({ id }) => id), next: nextCursorOf(found, one) }
}

/** The ids of all pages, read by keyset pagination. */
async function allPages(list: StoredList): Promise<unknown[]> {
  const ids: unknown[] = []
  for (let after: KeysetCursor | undefined = []; after !== undefined;) {
    const found: Awaited<ReturnType<typeof page>> = await page(list, { limit: list.limit, offset: 0, after })
    ids.push(...found.ids)
    after = found.next && (JSON.parse(JSON.stringify(found.next)) as KeysetCursor)
  }
  return ids
}

/** A lower bound of the entries scanned for a list, by shape or by grade; 0 if it is served by an index alone. */
function scannedAtLeast(list: StoredList): number {
  const { filter } = list
  if (planOf(list).scanned === undefined || filter.id !== undefined || filter.sku !== undefined) return 0
  const matches = (...names: readonly (keyof DiamondFilter)[]) => {
    const given = names.filter((name) => filter[name] !== undefined)
    return idsOf({ ...list, filter: Object.fromEntries(given.map((name) => [name, filter[name]])) }).length
  }
  return Math.min(matches('isLabGrown', 'isColored', 'cutShape', 'carat'), matches('color', 'clarity', 'carat'))
}

/** Evaluates a list in memory. */
function idsOf({ filter, sort, stored }: StoredList): number[] {
  const { field, direction } = parseSort(sort)
  const sign = direction === 'asc' ? 1 : -1
  return stored
    .filter((view) => view.diamond.owner === OWNER && passes(view, filter))
    .toSorted((a, b) => {
      const [left, right] = [valueOf(a, field), valueOf(b, field)]
      if (left === null || right === null) {
        if (left !== right) return left === null ? 1 : -1
      } else if (left !== right) return left < right ? -sign : sign
      return sign * (a.diamond.id - b.diamond.id)
    })
    .map(({ diamond }) => diamond.id)
}

const integralOf = (scores: DiamondView['scores']) => (scores === null ? null : (JSON.parse(scores) as Scores).integral)

function valueOf(
  { diamond, scores }: DiamondView,
  field: ReturnType<typeof parseSort>['field'],
): number | string | null {
  if (field === 'date') return diamond.date
  if (field === 'integral') return integralOf(scores)?.val ?? null
  return field === 'performance' ? (integralOf(scores)?.rg ?? null) : diamond.fields[field]
}

function passes({ diamond: { id, date, fields }, scores }: DiamondView, filter: DiamondFilter): boolean {
  const among = (values: readonly unknown[] | undefined, value: unknown) =>
    values === undefined || values.includes(value)
  const same = (expected: boolean | undefined, value: boolean) => expected === undefined || expected === value
  const within = (range: FilterRange | undefined, value: number | null | undefined) => {
    if (range === undefined) return true
    const { from = -Infinity, to = Infinity } = range
    return typeof value === 'number' && value >= from && value <= to
  }
  return (
    among(filter.id, id) &&
    among(filter.sku, fields.sku) &&
    among(filter.cutShape, fields.cutShape) &&
    among(filter.color, fields.color) &&
    among(filter.clarity, fields.clarity) &&
    same(filter.isColored, fields.isColored) &&
    same(filter.isPublished, fields.isPublished) &&
    same(filter.isLabGrown, fields.isLabGrown) &&
    same(
      filter.hasScores,
      scores !== null && Object.values(JSON.parse(scores) as Scores).some((score) => score !== null),
    ) &&
    within(filter.date, date) &&
    within(filter.carat, fields.carat) &&
    within(filter.price, fields.price) &&
    within(filter.integral, integralOf(scores)?.val) &&
    within(filter.performance, integralOf(scores)?.rg)
  )
}

const documentOf = ({ diamond, ...view }: DiamondView) => ({
  ...diamonds.toDocument({
    created: 1,
    fieldsChanged: 0,
    certificationsChanged: 0,
    scoresChanged: 0,
    changed: 1,
    id: diamond.id,
    account: diamond.owner,
    sku: diamond.fields.sku,
    view: { diamond, ...view },
  }),
})

const COLORS = colors.all.slice(0, 4).map(({ id }) => id)
const CLARITIES = clarities.all.slice(0, 2).map(({ id }) => id)
const SHAPES = [2, 4, 200, 'Trilliant', 'Old Mine']
const PRICES = [0, 100, 100.5, 4200]
const CARATS = [0.3, 1, 1.01, 5]
const VALUES = [0, 0.25, 0.5, 0.97]
const DATES = [100, 200, 300]
const SKUS = ['a', 'b', 'B', '\u{1f48e}']
const of = <Value>(values: readonly Value[]) => fc.constantFrom(...values)

const scores: fc.Arbitrary<Scores | null> = fc
  .record({ val: fc.option(of(VALUES), { nil: null }), rg: of(VALUES), isOther: fc.boolean() })
  .map(({ val, rg, isOther }) => ({
    integral: val === null ? null : { val, rg, d: 0, ver: '1' },
    spread: isOther ? { ct: 1, pc: 1, d: 0, ver: '1' } : null,
    fire: null,
    brilliance: null,
    fluor: null,
    symmetry: null,
  }))

const views: fc.Arbitrary<DiamondView[]> = fc
  .array(
    fc.record({
      owner: fc.constantFrom(OWNER, OWNER, OWNER, 2),
      date: of(DATES),
      scores: fc.option(scores, { nil: null }),
      fields: fc.record({
        sku: of(SKUS),
        cutShape: of(SHAPES),
        carat: of(CARATS),
        price: fc.option(of(PRICES), { nil: null }),
        color: fc.option(of(COLORS.slice(1)), { nil: null }),
        clarity: fc.option(of(CLARITIES), { nil: null }),
        isColored: fc.boolean(),
        isPublished: fc.boolean(),
        isLabGrown: fc.boolean(),
      }),
    }),
    { maxLength: 30 },
  )
  .map((all) =>
    all.map(({ owner, date, fields, scores: known }, index): DiamondView => {
      const constant = {
        certifications: [],
        serviceEventsSinceOwnerChange: 0,
        warningsSinceOwnerChange: 0,
        accessRevisions: { access: 0, dataAccess: 0 },
      }
      const { price, color, clarity, ...set } = fields
      const given = {
        ...set,
        ...(price !== null && { price }),
        ...(color !== null && { color }),
        ...(clarity !== null && { clarity }),
      }
      return {
        diamond: { status: 'live', id: index + 1, owner, date, fields: withDefaults(given), ...constant },
        revision: 0,
        stoneRevision: 0,
        scores: known && JSON.stringify(known),
        scoresRevision: known === null ? -1 : 0,
        changedAt: 0,
      }
    }),
  )

const some = <Value>(values: readonly Value[]) => fc.uniqueArray(of(values), { minLength: 1, maxLength: 3 })
const range = (values: readonly number[]): fc.Arbitrary<FilterRange> =>
  fc.record({ from: of(values), to: of(values) }, { requiredKeys: [] }).filter((made) => Object.keys(made).length > 0)
const conditions = {
  cutShape: some(SHAPES),
  color: some(COLORS),
  clarity: some(CLARITIES),
  isColored: fc.boolean(),
  isLabGrown: fc.boolean(),
  hasScores: fc.boolean(),
  carat: range(CARATS),
  price: range(PRICES),
  integral: range(VALUES),
  performance: range(VALUES),
  date: range(DATES),
  sku: some(SKUS),
  id: some([1, 2, 3, 5, 8, 13, 21, 99]),
}

/** At most three conditions, because more would rarely match a stone. */
const filters: fc.Arbitrary<DiamondFilter> = fc
  .tuple(fc.record(conditions), fc.subarray(Object.keys(conditions) as (keyof typeof conditions)[], { maxLength: 3 }))
  .map(([all, names]) => Object.fromEntries(Object.entries(all).filter(([name]) => (names as string[]).includes(name))))

const queries: fc.Arbitrary<GeneratedQuery> = fc.record({
  filter: filters,
  sort: of(SORTS),
  offset: fc.nat({ max: 12 }),
  limit: fc.integer({ min: 1, max: 9 }),
})
