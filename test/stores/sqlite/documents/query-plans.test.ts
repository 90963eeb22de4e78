import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Query, WhereClause } from '../../../../src/stores/ports/read-store.ts'
import {
  chooseAccessPath,
  indexRangeScans,
  countSql,
  findSql,
} from '../../../../src/stores/sqlite/documents/queries.ts'
import { dropSupersededBound, termsOf } from '../../../../src/stores/sqlite/documents/conditions.ts'
import { schemaOf } from '../../../../src/stores/sqlite/documents/schema.ts'
import { diamonds, newestFirst } from '../../../contract/read-store/model.ts'

const db = new Database(':memory:')
db.exec(schemaOf(diamonds))
const test = suite("the diamonds list's query plan")

const planOf = (sql: string) =>
  db
    .prepare<number[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...[...sql.matchAll(/\?/g)].map(() => 1))
    .map(({ detail }) => detail)
    .join('; ')

function findPlan(where: WhereClause, options: Partial<Query> = {}): string {
  const query = { where, order: newestFirst, limit: 25, offset: 0, select: ['v4'], ...options }
  const terms = termsOf(dropSupersededBound(where, query))
  const access = chooseAccessPath(diamonds, terms, query.order, query.by)
  return planOf(findSql(diamonds, indexRangeScans(terms, access, query), access, query))
}
const countPlan = (where: WhereClause) => planOf(countSql(diamonds, termsOf(where)))

const dates = { from: 1, to: 2 }
const paged: readonly [name: string, where: WhereClause, index: string][] = [
  ['owner', { owner: 1 }, 'by_owner_date_id (owner=?)'],
  ['owner and date', { owner: 1, date: dates }, 'by_owner_date_id (owner=? AND date>? AND date<?)'],
  ['isColored', { owner: 1, isColored: 1 }, 'by_owner_isColored_date_id (owner=? AND isColored=?)'],
  ['isPublished', { owner: 1, isPublished: 1 }, 'by_owner_isPublished_date_id (owner=? AND isPublished=?)'],
  [
    'both flags',
    { owner: 1, isColored: 0, isPublished: 1 },
    'by_owner_isColored_isPublished_date_id (owner=? AND isColored=? AND isPublished=?)',
  ],
  [
    'a flag and dates',
    { owner: 1, isColored: 0, date: { from: 1 } },
    'by_owner_isColored_date_id (owner=? AND isColored=? AND date>?)',
  ],
  ['one sku', { owner: 1, sku: { in: ['a'] } }, 'by_owner_sku_date_id (owner=? AND sku=?)'],
]

for (const [name, where, index] of paged) {
  test(`reads the index for ${name} in order and sorts nothing`, () => {
    assert.is(findPlan(where), `SEARCH documents USING INDEX ${index}`)
  })
}

const planAfterCursor = (where: WhereClause) => findPlan(where, { after: [1, 1] })

test('seeks to the cursor in the index, for any range of dates', () => {
  const seeks = (...ends: string[]) => ends.map((end) => `INDEX by_owner_date_id (owner=? AND ${end})`)
  for (const [where, ends] of [
    [{ owner: 1 }, seeks('date=? AND rowid<?', 'date<?')],
    [{ owner: 1, date: { to: 2 } }, seeks('date=? AND rowid<?', 'date<?')],
    [{ owner: 1, date: { from: 1 } }, seeks('date=? AND rowid<?', 'date>? AND date<?')],
    [{ owner: 1, date: dates }, seeks('date=? AND rowid<?', 'date>? AND date<?')],
  ] as const) {
    const plan = planAfterCursor(where)
    for (const end of ends) assert.ok(plan.includes(end), `${plan}: ${end}`)
    assert.match(plan, /MERGE \(UNION ALL\)/)
    // The only sort is that of the page itself.
    assert.match(plan, /^SEARCH documents USING INTEGER PRIMARY KEY \(rowid=\?\).*USE TEMP B-TREE FOR ORDER BY$/)
    assert.is(plan.split('TEMP B-TREE').length, 2)
  }
})

const few: readonly [name: string, where: WhereClause, index: string][] = [
  ['skus', { owner: 1, sku: { in: ['a', 'b'] } }, 'INDEX by_owner_sku_date_id (owner=? AND sku=?)'],
  [
    'skus and both flags',
    { owner: 1, isColored: 0, isPublished: 1, sku: { in: ['a', 'b'] }, date: dates },
    'INDEX by_owner_sku_date_id (owner=? AND sku=?',
  ],
  ['ids', { owner: 1, id: { in: [1, 2] } }, 'INTEGER PRIMARY KEY (rowid=?)'],
  ['ids and a flag', { owner: 1, isColored: 1, id: { in: [1, 2] } }, 'INTEGER PRIMARY KEY (rowid=?)'],
]

for (const [name, where, index] of few) {
  test(`seeks ${name} by value and sorts only the matches`, () => {
    const plan = findPlan(where)
    assert.ok(plan.includes(index), plan)
    assert.not.match(plan, /SCAN/)
  })
}

test('counts flags in the maintained counts and all else in a covering index', () => {
  assert.is(countPlan({ owner: 1, isPublished: 1 }), 'SEARCH counts USING PRIMARY KEY (owner=?)')
  assert.match(countPlan({ owner: 1, isColored: 1, isPublished: 0 }), /SEARCH counts USING PRIMARY KEY \(owner=\? AND/)
  assert.match(countPlan({ owner: 1, date: dates }), /^SEARCH documents USING COVERING INDEX by_owner_date_id/)
  assert.match(
    countPlan({ owner: 1, isColored: 1, date: dates }),
    /^SEARCH documents USING COVERING INDEX by_owner_isColored_date_id/,
  )
  assert.match(countPlan({ owner: 1, sku: { in: ['a', 'b'] } }), /^SEARCH documents USING COVERING INDEX by_owner_sku/)
  assert.match(countPlan({ owner: 1, id: { in: [1, 2] } }), /^SEARCH documents USING INTEGER PRIMARY KEY/)
})

test.run()
