import Database from 'better-sqlite3'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../../../src/projections/diamonds/diamonds.ts'
import { SORTS, type DiamondFilter } from '../../../../src/projections/diamonds/list-attributes.ts'
import { planList, type DiamondPageRequest } from '../../../../src/projections/diamonds/list-plan.ts'
import {
  chooseAccessPath,
  indexRangeScans,
  countSql,
  findSql,
} from '../../../../src/stores/sqlite/documents/queries.ts'
import { dropSupersededBound, termsOf } from '../../../../src/stores/sqlite/documents/conditions.ts'
import { schemaOf } from '../../../../src/stores/sqlite/documents/schema.ts'

const { declaration } = diamonds
const db = new Database(':memory:')
db.exec(schemaOf(declaration))
const test = suite('the query plans of the lists of diamonds')

const explained = (sql: string) =>
  db
    .prepare<number[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...[...sql.matchAll(/\?/g)].map(() => 1))
    .map(({ detail }) => detail)

function plansOf(filter: DiamondFilter, page: Pick<DiamondPageRequest, 'sort' | 'after'>) {
  const { queries, index, total, scanned } = planList(1, filter, page, 10)
  const finds = queries.map((part) => {
    const query = { ...part, select: ['state'], limit: 25, offset: 0 }
    const terms = termsOf(dropSupersededBound(part.where, query))
    const access = chooseAccessPath(declaration, terms, part.order, index)
    return explained(findSql(declaration, indexRangeScans(terms, access, query), access, query))
  })
  const counts = [total, scanned ?? 'kept'].map((counted) =>
    counted === 'kept' ? [] : explained(countSql(declaration, termsOf(counted.where), counted.bounded)),
  )
  return { finds, counts }
}

/** Whether SQLite sorts rows before it has the page; sorting the rows of the page itself is always allowed. */
const sortsAll = (plan: readonly string[]) =>
  plan.slice(0, -1).some((detail) => detail.includes('TEMP B-TREE FOR ORDER'))

for (const sort of SORTS) {
  for (const filter of [
    {},
    { isLabGrown: true, cutShape: [2, 4] },
    { isColored: false, cutShape: [2] },
  ] as DiamondFilter[]) {
    if (sort === 'sku' && Object.keys(filter).length > 0) continue
    for (const page of [{ sort }, { sort, after: [1, 1] }]) {
      test(`sort nothing for ${JSON.stringify({ ...filter, ...page })} and use the maintained counts`, () => {
        const { finds, counts } = plansOf(filter, page)
        for (const plan of finds) assert.not.ok(sortsAll(plan), plan.join('\n'))
        for (const plan of finds) assert.not.match(plan.join(), /\bSCAN documents/)
        for (const plan of counts) assert.match(plan.join(), /^(SEARCH counts USING PRIMARY KEY \(owner=\?.*)?$/)
      })
    }
  }
}

const UNSERVED: DiamondFilter = {
  hasScores: true,
  price: { to: 3 },
  integral: { from: 0.5 },
  performance: { from: 0.5 },
  cutShape: ['Trilliant'],
  date: { from: 5 },
}
for (const [name, filter, index] of [
  ['shape and weight', UNSERVED, /COVERING INDEX by_owner_isLabGrown_isColored_shape_carat_tie/],
  ['colour and clarity', { ...UNSERVED, color: [1], clarity: [2] }, /COVERING INDEX by_owner_color_clarity_carat_tie/],
  ['colour', { ...UNSERVED, color: [1] }, /COVERING INDEX by_owner_color_clarity_carat_tie/],
  ['clarity', { ...UNSERVED, clarity: [2] }, /COVERING INDEX by_owner_color_clarity_carat_tie/],
] as const) {
  test(`scan the covering index by ${name} for filters that no index serves`, () => {
    const { finds, counts } = plansOf(filter, { sort: '-integral' })
    for (const plan of [...counts.filter((one) => one.length > 0), ...finds]) assert.match(plan.join(), index)
  })
}

test('use the indexes by sku and by flags without a sort order', () => {
  assert.match(plansOf({ sku: ['a'] }, {}).finds.join(), /INDEX by_owner_sku_date_id \(owner=\? AND sku=\?\)$/)
  assert.match(
    plansOf({ isColored: true, isPublished: true }, {}).finds.join(),
    /INDEX by_owner_isColored_isPublished_date_id/,
  )
})

test.run()
