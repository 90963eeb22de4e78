import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connect } from '../../../src/stores/mongodb/connection.ts'
import { createMongoReadStore } from '../../../src/stores/mongodb/documents.ts'
import { collectionsOf } from '../../../src/stores/mongodb/documents/collections.ts'
import { filterOf, sortOf } from '../../../src/stores/mongodb/documents/filters.ts'
import type { WhereClause } from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, newestFirst, put } from '../../contract/read-store/model.ts'
import { mongoServer } from '../../mongo-server.ts'

/** Every combination of filters that a list allows. */
const filters: readonly (readonly [name: string, where: WhereClause])[] = [
  ['of an owner', { owner: 1 }],
  ['in a range of dates', { owner: 1, date: { from: 1100, to: 1200 } }],
  ['of some skus', { owner: 1, sku: { in: ['SKU-7', 'SKU-8'] } }],
  ['of coloured stones', { owner: 1, isColored: 1 }],
  ['of published stones', { owner: 1, isPublished: 1 }],
  ['of coloured and published stones', { owner: 1, isColored: 1, isPublished: 1 }],
  [
    'of coloured and published stones in a range of dates',
    { owner: 1, isColored: 1, isPublished: 1, date: { from: 1100 } },
  ],
]

/** The parts used here of what `explain` returns. */
type Explained = {
  readonly queryPlanner: { readonly winningPlan?: unknown }
  readonly executionStats?: { readonly totalDocsExamined: number; readonly nReturned: number }
}

const server = await mongoServer('indexes of the read models')
const test = suite('a list in MongoDB')

if (server !== undefined) {
  const address = server.newDatabase()
  const mongo = connect(address)
  const build = await createMongoReadStore(mongo).live(diamonds)
  const { documents } = collectionsOf(mongo.db, diamonds, build.id)
  await build.write(
    Array.from({ length: 600 }, (_, id) =>
      put(diamond(id, { owner: 1 + (id % 2), isColored: id % 3 === 0 ? 1 : 0, isPublished: id % 5 === 0 ? 1 : 0 })),
    ),
    at(1),
  )

  for (const index of diamonds.indexes) {
    test(`has the index ${index.join(', ')}`, async () => {
      const keys = (await documents.listIndexes().toArray()).map(({ key }) => Object.keys(key as object))
      assert.ok(keys.some((key) => key.join() === index.join()))
    })
  }

  if (server.isFerretDB) console.log('NOTE: query plans are not checked: those of FerretDB do not show indexes')
  else {
    for (const [name, where] of filters) {
      test(`${name} is found and sorted by an index`, async () => {
        const found = documents.find(filterOf(diamonds, where), { sort: sortOf(diamonds, newestFirst), limit: 25 })
        const { queryPlanner, executionStats } = (await found.explain('executionStats')) as Explained
        const stages = JSON.stringify(queryPlanner.winningPlan)
        assert.match(stages, /"IXSCAN"/)
        assert.not.match(stages, /"(COLLSCAN|SORT)"/)
        assert.ok((executionStats?.totalDocsExamined ?? 0) <= (executionStats?.nReturned ?? 0))
      })
    }
  }

  test.after(async () => {
    await mongo.close()
    await server.drop(address)
  })
  test.run()
}
