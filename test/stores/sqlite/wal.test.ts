import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startWorker } from '../../../src/runtime/start-worker.ts'
import type { ReadModelBuild } from '../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../src/stores/sqlite/documents.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import { createWalThread } from '../../../src/stores/sqlite/wal.ts'
import { event } from '../../contract/event-store/given.ts'
import { until } from '../../until.ts'

const test = suite<{ folder: string; warnings: string[] }>('a checkpoint thread')
test.before.each((given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-threads-'))
  given.warnings = []
})
test.after.each(({ folder }) => rmSync(folder, { recursive: true }))

const STONES = {
  name: 'stones',
  version: 1,
  fields: { id: 'integer' },
  texts: ['body'],
  indexes: [],
  counts: [],
} as const

/** Bytes of the read model's file, without its WAL. */
const bytesOf = (folder: string) =>
  statSync(join(folder, readdirSync(folder).find((name) => /^read-stones.*\.db$/.test(name)) ?? '')).size

/** More than 32 MB in few documents: the length of the WAL counts. */
async function fill(build: ReadModelBuild): Promise<void> {
  const { position: last = 'start' } = (await build.checkpoint()) ?? {}
  const first = last === 'start' ? 1n : last.commit + 1n
  for (let position = first; position < first + 200n; position++) {
    const put = { id: Number(position), body: 'x'.repeat(200_000) }
    const checkpoint = { position: { commit: position, prepare: position }, log: 'log', event: null }
    await build.write([{ put, revision: 1n }], checkpoint)
  }
}

test('runs from source and moves a long WAL into the read model file', async ({ folder, warnings }) => {
  const reads = openSqliteReadStore(folder, { warn: (_details, message) => void warnings.push(message) })
  await fill(await reads.live(STONES))
  await until('the file to grow', () => bytesOf(folder) > 500_000)
  await reads.close()
  assert.equal(warnings, [])
})

/** The first thread dies at its first message; later ones are real. */
function dyingFirst(real: () => Worker): () => Worker {
  let starts = 0
  const dying = `require('node:worker_threads').parentPort.once('message', () => { throw new Error('died') })`
  return () => (starts++ === 0 ? new Worker(dying, { eval: true }) : real())
}

const thread = () =>
  createWalThread(dyingFirst(() => startWorker('../../../src/stores/sqlite/wal-worker', import.meta.url)))

const DIED = 'the checkpoint thread failed; it restarts with the next checkpoint'

test('of the read models that dies is logged and restarted by the next checkpoint', async ({ folder, warnings }) => {
  const wal = thread()
  const reads = openSqliteReadStore(folder, {
    warn: (_details, message) => void warnings.push(message),
    thread: wal,
  })
  const build = await reads.live(STONES)
  const before = bytesOf(folder)
  await fill(build)
  await until('the death', () => warnings.length > 0)
  await fill(build)
  await until('a checkpoint', () => bytesOf(folder) > before)
  assert.equal(warnings, [DIED])
  await reads.close()
  await wal.close()
})

test('of the event log that dies is logged, replaced on the event loop, and restarted by the next checkpoint', async ({
  folder,
  warnings,
}) => {
  const wal = thread()
  const file = join(folder, 'events.db')
  const store = openSqliteEventStore(file, {
    warn: (_details, message) => void warnings.push(message),
    thread: wal,
  })
  const fill = () =>
    store.append(`large-${randomUUID()}`, 'none', [{ ...event(), data: { text: 'x'.repeat(17_000_000) } }])
  await fill()
  await until('the death', () => warnings.length > 0)
  const { checkpoints, checkpointsOnLoop } = store.stats()
  assert.equal({ checkpoints, checkpointsOnLoop }, { checkpoints: 1, checkpointsOnLoop: 1 })
  await fill()
  await until('the next one', () => store.stats().checkpoints === 2)
  assert.is(store.stats().checkpointsOnLoop, 1)
  assert.equal(warnings, [DIED])
  await store.close()
  await wal.close()
})

test('of the vault that dies fails the shredding and is restarted by the next one', async ({ folder }) => {
  const wal = thread()
  const vault = openSqliteVault(join(folder, 'vault.db'), { thread: wal })
  const [died] = await Promise.allSettled([vault.shred()])
  assert.match(died?.status === 'rejected' ? String(died.reason) : '', 'died')
  assert.is(await vault.shred(), true)
  await vault.close()
  await wal.close()
})

test.run()
