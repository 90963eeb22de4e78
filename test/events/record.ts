/**
 * Records an example of every event version that has none yet: the newest event of that version in a log.
 * `node --import tsx test/events/record.ts DATA_DIR/events.db`, or `esdb://...` for events that only occur on EventStoreDB.
 * Existing recordings are never overwritten.
 */
import { existsSync } from 'node:fs'
import { EVENTS } from '../../src/events/registry.ts'
import { openEventStoreDB } from '../../src/stores/eventstoredb/eventstoredb.ts'
import { openSqliteEventStore } from '../../src/stores/sqlite/events.ts'
import { fileOf, folder, type Recording } from './recordings.ts'
import { writeJson } from './write-json.ts'

const [file] = process.argv.slice(2)
const isServer = file?.startsWith('esdb') === true
if (file === undefined || !(isServer || existsSync(file))) throw new Error('name a log, such as ./data/events.db')

const store = isServer ? openEventStoreDB(file) : openSqliteEventStore(file)
const newest = new Map<string, Recording>()
for await (const { id, type, stream, revision, position, data, metadata } of store.readAll('start')) {
  const place = { revision: String(revision), position: String(position.commit) }
  const recording = { id, type, stream, ...place, data, metadata }
  if (EVENTS[type] !== undefined) newest.set(fileOf(recording), recording)
}
for (const [name, recording] of newest) {
  const target = new URL(name, folder)
  if (!existsSync(target)) {
    await writeJson(target, recording)
    console.log(target.pathname)
  }
}
await store.close()
