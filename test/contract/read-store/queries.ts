import * as fc from '../../fast-check.ts'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Condition, Document, FieldValue, Query, WhereClause } from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, newestFirst, put, using, type OpenedReadStore } from './model.ts'

export function queryRules(test: Test, open: () => Promise<OpenedReadStore>, runs: number): void {
  test(
    'a model without documents returns nothing',
    using(open, async ({ store }) => {
      const model = await store.model(diamonds)
      assert.is(await model.get(1, ['v4']), undefined)
      assert.equal(
        await model.find({ where: { owner: 1 }, order: newestFirst, limit: 25, offset: 0, select: ['v4'] }),
        [],
      )
      assert.is(await model.count({ owner: 1 }), 0)
      assert.is(await model.count({}), 0)
      assert.equal([...(await model.parkedStreams())], [])
    }),
  )

  test(
    'a document is returned with exactly the selected fields',
    using(open, async ({ store }) => {
      await (await store.live(diamonds)).write([put(diamond(1))], at(1))
      const model = await store.model(diamonds)
      assert.equal(await model.get(1, ['v4']), { v4: 'v4 of 1' })
      assert.equal(await model.get(1, ['sku', 'v3']), { sku: 'SKU-1', v3: 'v3 of 1' })
      assert.is(await model.get(2, ['v4']), undefined)
    }),
  )

  test(
    'an unknown field is rejected by name in every part of a query',
    using(open, async ({ store }) => {
      await store.live(diamonds)
      const model = await store.model(diamonds)
      const query: Query = { where: { owner: 1 }, order: newestFirst, limit: 1, offset: 0, select: ['v4'] }
      await rejectsUnknownField(() => model.get(1, ['colour']))
      await rejectsUnknownField(() => model.find({ ...query, select: ['colour'] }))
      await rejectsUnknownField(() => model.find({ ...query, where: { owner: 1, colour: 1 } }))
      await rejectsUnknownField(() => model.find({ ...query, order: [['colour', 'asc']] }))
      await rejectsUnknownField(() => model.count({ colour: 1 }))
    }),
  )

  test(
    'a filter may list 1,000 values',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write(
        range(1200).map((id) => put(diamond(id))),
        at(1),
      )
      const model = await store.model(diamonds)
      const where = { owner: 1, id: { in: range(1000).map((id) => id + 100) } }
      const skus = { owner: 1, sku: { in: range(1000).map((id) => `SKU-${id + 500}`) } }
      const page = { order: newestFirst, limit: 1000, offset: 0, select: ['id'] }
      assert.is((await model.find({ where, ...page })).length, 1000)
      assert.equal((await model.find({ where: skus, ...page }))[0], { id: 1200 })
      assert.is(await model.count(where), 1000)
      assert.is(await model.count(skus), 700)
    }),
  )

  test(
    'a cursor in an order of mixed directions is rejected',
    using(open, async ({ store }) => {
      await store.live(diamonds)
      const model = await store.model(diamonds)
      const order = [['date', 'desc'] as const, ['id', 'asc'] as const]
      const outcome = await Promise.resolve()
        .then(() => model.find({ where: { owner: 1 }, order, limit: 1, offset: 0, after: [1, 1], select: ['id'] }))
        .catch((error: unknown) => error)
      assert.ok(outcome instanceof Error && /the same direction/.test(outcome.message))
    }),
  )

  test(
    'with a named index, lists of values are merged into one order, each document once',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      const stored = range(40).map((id) =>
        diamond(id, { isColored: id % 2, isPublished: id % 3 === 0 ? 1 : 0, date: 100 + (id % 7) }),
      )
      await build.write(
        stored.map((document) => put(document)),
        at(1),
      )
      const model = await store.model(diamonds)
      const where = { owner: 1, isColored: { in: [0, 1] }, isPublished: { in: [0, 1, 1, 0, 0] } }
      const by = ['owner', 'isColored', 'isPublished', 'date', 'id']
      for (const after of [undefined, [104, 11], [100, 1]]) {
        const query: Query = {
          where,
          order: newestFirst,
          limit: 15,
          offset: 0,
          select: ['id'],
          by,
          ...(after && { after }),
        }
        assert.equal(await model.find(query), pageOf(stored, query), String(after))
      }
    }),
  )

  test('filters, orders and pages have the result of filtering, sorting and slicing a list', async () => {
    await fc.assert(
      fc.asyncProperty(documents, fc.array(query, { minLength: 1, maxLength: 8 }), (stored, queries) =>
        using(open, async ({ store }) => {
          const build = await store.live(diamonds)
          await build.write(
            stored.map((document) => put(document)),
            at(1),
          )
          const model = await store.model(diamonds)
          for (const one of queries) {
            const matching = stored.filter((document) => matches(document, one.where))
            assert.equal(await model.find(one), pageOf(matching, one), JSON.stringify(one))
            assert.is(await model.count(one.where), matching.length, JSON.stringify(one.where))
          }
        })(),
      ),
      { numRuns: runs },
    )
  })
}

const sku = fc.constantFrom('a', 'A', 'b', '', 'a\u0000', '\uffee', '\u{1f48e}')
const flag = fc.integer({ min: 0, max: 1 })
const small = fc.integer({ min: 1, max: 12 })
const owner = fc.integer({ min: 1, max: 2 })

const documents = fc
  .array(fc.record({ owner, date: small, sku, isColored: flag, isPublished: flag }), { maxLength: 30 })
  .map((all) => all.map((values, index) => diamond(index + 1, values)))

const one = <Value extends FieldValue>(value: fc.Arbitrary<Value>): fc.Arbitrary<Condition> =>
  fc.oneof(
    value,
    fc.record({ in: fc.array(value, { maxLength: 5 }) }),
    fc.record({ from: value, to: value }, { requiredKeys: [] }),
  )

const where: fc.Arbitrary<WhereClause> = fc
  .record(
    { id: one(small), sku: one(sku), isColored: one(flag), isPublished: one(flag), date: one(small) },
    { requiredKeys: [] },
  )
  .chain((filters) => owner.map((owner) => ({ owner, ...filters })))

const value = fc.oneof(small, sku)
const cursors = fc.tuple(value, value, value)

/** Adds a cursor to a query if its order has one direction; values are converted to the types of their fields. */
function withCursor(query: Query, values: readonly FieldValue[]): Query {
  const { order } = query
  const after = order.map(([field], at) => (field === 'sku' ? String(values[at]) : Number(values[at]) || 1))
  const isOneWay = order.every(([, direction]) => direction === order[0]?.[1])
  return isOneWay ? { ...query, offset: 0, after } : query
}

const query: fc.Arbitrary<Query> = fc.oneof(
  fc.record({ query: plainQuery(), values: cursors }).map(({ query: plain, values }) => withCursor(plain, values)),
  plainQuery(),
)

function plainQuery(): fc.Arbitrary<Query> {
  return fc.record({
    where,
    order: fc.constantFrom<Query['order']>(
      newestFirst,
      [
        ['date', 'asc'],
        ['id', 'asc'],
      ],
      [
        ['sku', 'asc'],
        ['date', 'desc'],
        ['id', 'desc'],
      ],
      [
        ['sku', 'desc'],
        ['id', 'desc'],
      ],
      [['id', 'desc']],
    ),
    limit: fc.integer({ min: 1, max: 40 }),
    offset: fc.integer({ min: 0, max: 12 }),
    select: fc.constantFrom<readonly string[]>(['v4'], ['id', 'sku'], ['date', 'v3', 'id']),
  })
}

function matches(document: Document, filters: WhereClause): boolean {
  return Object.entries(filters).every(([field, condition]) => holds(document[field] ?? '', condition))
}

function holds(value: FieldValue, condition: Condition): boolean {
  if (typeof condition !== 'object') return value === condition
  if ('in' in condition) return condition.in.includes(value)
  const { from, to } = condition
  return (from === undefined || compare(value, from) >= 0) && (to === undefined || compare(value, to) <= 0)
}

/** Texts compare by their UTF-8 bytes (by code point), as in SQLite and MongoDB but unlike in JavaScript. */
function compare(a: FieldValue, b: FieldValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)))
}

function pageOf(matching: readonly Document[], { order, limit, offset, select, after }: Query): Document[] {
  const compared = (a: Document, b: Document) => {
    for (const [field, direction] of order) {
      const difference = compare(a[field] ?? '', b[field] ?? '')
      if (difference !== 0) return direction === 'asc' ? difference : -difference
    }
    return 0
  }
  const cursor = after && Object.fromEntries(order.map(([field], at) => [field, after[at] ?? '']))
  const sorted = matching
    .filter((document) => cursor === undefined || compared(document, cursor) > 0)
    .toSorted(compared)
  const pick = (document: Document) => Object.fromEntries(select.map((name) => [name, document[name] ?? '']))
  return sorted.slice(offset, offset + limit).map(pick)
}

const range = (length: number) => Array.from({ length }, (_, index) => index + 1)

async function rejectsUnknownField(action: () => unknown): Promise<void> {
  const outcome = await Promise.resolve()
    .then(action)
    .catch((error: unknown) => error)
  assert.instance(outcome, Error)
  if (outcome instanceof Error) assert.match(outcome.message, /no field colour/)
}
