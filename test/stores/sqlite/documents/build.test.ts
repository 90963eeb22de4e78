import type Database from 'better-sqlite3'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../../src/stores/ports/event-store.ts'
import { createBuild, type SqliteBuildOptions } from '../../../../src/stores/sqlite/documents/build.ts'
import { mapTransientErrors, openDatabase } from '../../../../src/stores/sqlite/documents/read-model-file.ts'
import { schemaOf } from '../../../../src/stores/sqlite/documents/schema.ts'
import { countTurns } from '../../../../src/stores/sqlite/change-detection.ts'
import type { SqliteFileFormat } from '../../../../src/stores/sqlite/database-file.ts'
import { at, diamond, diamonds, put } from '../../../contract/read-store/model.ts'

const test = suite('a build in a SQLite file')
const folder = mkdtempSync(join(tmpdir(), 'documents-'))
test.after(() => rmSync(folder, { recursive: true }))

const format: SqliteFileFormat = {
  name: 'read model',
  applicationId: 1,
  migrations: [(db) => db.exec(schemaOf(diamonds))],
}
const open = (name: string): Database.Database =>
  openDatabase(join(folder, `${name}.db`), format, { cacheKib: 1024, make: true })

const OPTIONS: SqliteBuildOptions = {
  turn: countTurns(),
  onCommitted: () => undefined,
  requireWritable: () => undefined,
  guard: mapTransientErrors,
}

test('rejects writes with StoreUnavailable on a full disk, keeps its data, and accepts writes when there is space', async () => {
  const db = open('full')
  const build = createBuild('full', db, diamonds, OPTIONS)
  await build.write([put(diamond(1))], at(1))
  const pages = Number(db.pragma('page_count', { simple: true }))
  db.pragma(`max_page_count = ${pages}`)
  const large = Array.from({ length: 20 }, (_, index) => put(diamond(index + 2, { v4: 'x'.repeat(4000) })))
  const outcome = await build.write(large, at(2)).catch((error: unknown) => error)
  assert.instance(outcome, StoreUnavailable)
  assert.equal(await build.checkpoint(), at(1))
  assert.equal(build.position(), at(1).position)
  assert.is(build.queries.count({ owner: 1 }), 1)
  assert.equal(build.queries.get(1, ['v4']), { v4: 'v4 of 1' })
  db.pragma('max_page_count = 1000000')
  await build.write(large, at(2))
  assert.is(build.queries.count({ owner: 1 }), 21)
  assert.equal(build.position(), at(2).position)
  build.close()
})

test('keeps counts consistent with the documents after a batch that failed half way', async () => {
  const build = createBuild('half', open('half'), diamonds, OPTIONS)
  const broken = put({ id: 3, owner: 1 })
  await build.write([put(diamond(1)), broken], at(1)).catch(() => undefined)
  await build.write([put(diamond(2))], at(1))
  assert.is(build.queries.count({ owner: 1 }), 1)
  build.close()
})

/** One array for all reads, as in production. */
const TEXT = ['v4'] as const

test('returns the latest write, also for documents that were read before', async () => {
  const build = createBuild('read', open('read'), diamonds, OPTIONS)
  await build.write([put(diamond(1)), put(diamond(2))], at(1))
  assert.equal(build.queries.get(1, TEXT), { v4: 'v4 of 1' })
  assert.equal(build.queries.get(2, TEXT), { v4: 'v4 of 2' })
  await build.write([put(diamond(1, { v4: 'new' }), 2n)], at(2))
  assert.equal(build.queries.get(1, TEXT), { v4: 'new' })
  assert.equal(build.queries.get(2, TEXT), { v4: 'v4 of 2' })
  await build.write([{ revision: 3n, remove: 1 }], at(3))
  assert.is(build.queries.get(1, TEXT), undefined)
  build.close()
})

test("returns another connection's writes from the next turn on", async () => {
  const [reading, writing] = [1, 2].map(() => createBuild('two', open('two'), diamonds, OPTIONS))
  await writing?.write([put(diamond(1)), put(diamond(2))], at(1))
  assert.equal(reading?.queries.get(1, TEXT), { v4: 'v4 of 1' })
  assert.equal(reading?.queries.get(2, TEXT), { v4: 'v4 of 2' })
  await writing?.write([put(diamond(1, { v4: 'new' }), 2n), { revision: 2n, remove: 2 }], at(2))
  await nextTurn()
  assert.equal(reading?.queries.get(1, TEXT), { v4: 'new' })
  assert.is(reading?.queries.get(2, TEXT), undefined)
  reading?.close()
  writing?.close()
})

test.run()
