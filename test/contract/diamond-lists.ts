import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { clarity as clarities, color as colors } from '../../src/domain/dictionaries/colors.ts'
import { withDefaults } from '../../src/domain/diamond/fields.ts'
import type { Scores } from '../../src/domain/diamond/scores.ts'
import { RequestError } from '../../src/domain/decider.ts'
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
import { at, put, using, type Opened } from './read-store/model.ts'

/** At most so many times over: once is nearly always enough. */
const ROUNDS = 6

/**
 * The lists of diamonds, whatever is filtered by and in whatever order, are what a plain evaluation in memory gives.
 * @param runs inventories, each asked several times
 */
export function diamondListsContract(
  name: string,
  open: () => Promise<Opened>,
  runs = process.env['ADAMANT_FULL'] === '1' ? 200 : 25,
): void {
  const test = suite(`lists of diamonds (${name})`)

  const property = (most: fc.Arbitrary<number>, holds: (asked: Asked) => Promise<void>) =>
    fc.assert(
      fc.asyncProperty(views, fc.array(asks, { minLength: 1, maxLength: 12 }), most, (stored, all, bound) =>
        using(open, async ({ store }) => {
          const build = await store.live(diamonds.declaration)
          await build.write(
            stored.map((view) => put(documentOf(view))),
            at(1),
          )
          const model = await store.model(diamonds.declaration)
          for (const ask of all) await holds({ ...ask, model, stored, most: bound })
        })(),
      ),
      { numRuns: runs, includeErrorInReport: true },
    )

  test('are filtered and sorted as in memory, by offset and from place to place', async () => {
    await property(fc.constant(MAX_ENTRIES_SCANNED), async (asked) => {
      const wanted = idsOf(asked)
      assert.is(await total(asked), wanted.length)
      const { offset, limit } = asked
      assert.equal((await page(asked, { offset, limit })).ids, wanted.slice(offset, offset + limit), said(asked))
      assert.equal(await walked(asked), wanted, said(asked))
    })
  })

  test('are refused or right where little may be looked through, and what is named instead is served', async () => {
    let [served, refused] = [0, 0]
    const enough = () => served > runs && refused > runs / 2
    const holds = async (asked: Asked) => {
      const found = await total(asked).catch((error: unknown) => error)
      if (typeof found === 'number') {
        served++
        assert.is(found, idsOf(asked).length, said(asked))
        assert.equal(await walked(asked), idsOf(asked), said(asked))
        assert.ok(lookedThrough(asked) <= asked.most, said(asked))
      } else {
        refused++
        assert.ok(found instanceof RequestError && found.kind === 'invalid', String(found))
        assert.ok(asked.stored.length > asked.most)
        const instead = { ...asked, ...nearestServedListOf(asked.filter, asked.sort) }
        assert.is(await total(instead), idsOf(instead).length, said(instead))
      }
    }
    // How many of those that are generated are refused is chance, and now and then too few at first.
    for (let round = 0; round < ROUNDS && !enough(); round++) await property(fc.nat({ max: 4 }), holds)
    assert.ok(enough(), `${served} served, ${refused} refused`)
  })

  test.run()
}

type Ask = {
  readonly filter: DiamondFilter
  readonly sort: (typeof SORTS)[number]
  readonly offset: number
  readonly limit: number
}
type Asked = Ask & { readonly model: ReadModel; readonly stored: readonly DiamondView[]; readonly most: number }

const OWNER = 1
const said = ({ filter, sort, offset, limit }: Ask) => JSON.stringify({ filter, sort, offset, limit })

const planned = ({ filter, sort, most }: Asked, after?: KeysetCursor) =>
  planList(OWNER, filter, { sort, ...(after && { after }) }, most)

const total = async (asked: Asked) => (await totalOf(asked.model, askedOf(asked), planned(asked))).total

const askedOf = ({ filter, sort }: Ask) => ({ filter, page: { limit: 1, offset: 0, sort } })

async function page(asked: Asked, part: DiamondPageRequest) {
  const one: DiamondPageRequest = { ...part, sort: asked.sort }
  const select = ['id', parseSort(asked.sort).field]
  const { plan } = await totalOf(asked.model, askedOf(asked), planned(asked, one.after))
  const found = await documentsOf(asked.model, plan, one, select)
  return { ids: found.slice(0, one.limit).map(({ id }) => id), next: nextCursorOf(found, one) }
}

/** All ids, from page to page. */
async function walked(asked: Asked): Promise<unknown[]> {
  const ids: unknown[] = []
  for (let after: KeysetCursor | undefined = []; after !== undefined;) {
    const found: Awaited<ReturnType<typeof page>> = await page(asked, { limit: asked.limit, offset: 0, after })
    ids.push(...found.ids)
    after = found.next && (JSON.parse(JSON.stringify(found.next)) as KeysetCursor)
  }
  return ids
}

/** How many stones came into question at least, where any were looked through. */
function lookedThrough(asked: Asked): number {
  const { isLabGrown, isColored, cutShape, carat, id, sku } = asked.filter
  if (planned(asked).scanned === undefined || id !== undefined || sku !== undefined) return 0
  const filter = {
    ...(isLabGrown !== undefined && { isLabGrown }),
    ...(isColored !== undefined && { isColored }),
    ...(cutShape !== undefined && { cutShape }),
    ...(carat !== undefined && { carat }),
  }
  return idsOf({ ...asked, filter }).length
}

/** What the filters and orders mean, told plainly. */
function idsOf({ filter, sort, stored }: Asked): number[] {
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

const integralOf = (scores: DiamondView['scores']) =>
  scores === null ? undefined : (JSON.parse(scores) as Scores).integral?.val

function valueOf(
  { diamond, scores }: DiamondView,
  field: ReturnType<typeof parseSort>['field'],
): number | string | null {
  if (field === 'date') return diamond.date
  return field === 'integral' ? (integralOf(scores) ?? null) : diamond.fields[field]
}

function passes({ diamond: { id, date, fields }, scores }: DiamondView, filter: DiamondFilter): boolean {
  const among = (values: readonly unknown[] | undefined, value: unknown) =>
    values === undefined || values.includes(value)
  const same = (wanted: boolean | undefined, value: boolean) => wanted === undefined || wanted === value
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
    within(filter.integral, integralOf(scores))
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
  .record({ val: fc.option(of(VALUES), { nil: null }), isOther: fc.boolean() })
  .map(({ val, isOther }) => ({
    integral: val === null ? null : { val, rg: 1, d: 0, ver: '1' },
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
      const certain = {
        certifications: [],
        readingsBehind: 0,
        warningsBehind: 0,
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
        diamond: { status: 'live', id: index + 1, owner, date, fields: withDefaults(given), ...certain },
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
const wanted = {
  cutShape: some(SHAPES),
  color: some(COLORS),
  clarity: some(CLARITIES),
  isColored: fc.boolean(),
  isLabGrown: fc.boolean(),
  hasScores: fc.boolean(),
  carat: range(CARATS),
  price: range(PRICES),
  integral: range(VALUES),
  date: range(DATES),
  sku: some(SKUS),
  id: some([1, 2, 3, 5, 8, 13, 21, 99]),
}

/** Mostly a filter or two: with more there is nothing left. */
const filters: fc.Arbitrary<DiamondFilter> = fc
  .tuple(fc.record(wanted), fc.subarray(Object.keys(wanted) as (keyof typeof wanted)[], { maxLength: 3 }))
  .map(([all, names]) => Object.fromEntries(Object.entries(all).filter(([name]) => (names as string[]).includes(name))))

const asks: fc.Arbitrary<Ask> = fc.record({
  filter: filters,
  sort: of(SORTS),
  offset: fc.nat({ max: 12 }),
  limit: fc.integer({ min: 1, max: 9 }),
})
