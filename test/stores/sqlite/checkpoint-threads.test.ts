import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startWorker } from '../../../src/runtime/start-worker.ts'
import { openDocuments } from '../../../src/stores/sqlite/documents.ts'
import { checkpointer } from '../../../src/stores/sqlite/documents/checkpointer.ts'
import { Checkpointer } from '../../../src/stores/sqlite/events/checkpointer.ts'
import { eventLogFormat } from '../../../src/stores/sqlite/events/format.ts'
import { LogFile } from '../../../src/stores/sqlite/events/log-file.ts'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import { Shredder } from '../../../src/stores/sqlite/vault/shredder.ts'
import { until } from '../../api/harness/postbox.ts'

const test = suite<{ folder: string; told: string[] }>('a thread that looks after a WAL')
test.before.each((given) => {
  given.folder = mkdtempSync(join(tmpdir(), 'adamant-threads-'))
  given.told = []
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

/** Pages of the read model's file, without its WAL. */
const bytesOf = (folder: string) =>
  statSync(join(folder, readdirSync(folder).find((name) => /^read-stones.*\.db$/.test(name)) ?? '')).size

test('starts from the sources, and moves what was written into the read model', async ({ folder, told }) => {
  const reads = openDocuments(folder, { told: (_found, sentence) => void told.push(sentence) })
  const build = await reads.live(STONES)
  for (let batch = 1n; batch <= 9n; batch++) {
    const writes = Array.from({ length: 500 }, (_, index) => ({
      put: { id: Number(batch) * 500 + index, body: 'x'.repeat(200) },
      revision: batch,
    }))
    const position = { commit: batch, prepare: batch }
    await build.write(writes, { position, log: 'log', event: null })
  }
  await until('the file to grow', () => bytesOf(folder) > 500_000, 10_000)
  await reads.close()
  assert.equal(told, [])
})

/** A thread that dies of each message first, and the real one from then on. */
function dyingFirst(real: () => Worker): () => Worker {
  let starts = 0
  const dying = `require('node:worker_threads').parentPort.once('message', () => { throw new Error('died') })`
  return () => (starts++ === 0 ? new Worker(dying, { eval: true }) : real())
}

const realOf = (module: string, data?: string) => () =>
  startWorker(`../../../src/stores/sqlite/${module}`, import.meta.url, data)

test('of the read models that dies is told of, and the next checkpoint starts another', async ({ folder, told }) => {
  const reads = openDocuments(folder)
  await reads.live(STONES)
  const path = join(folder, readdirSync(folder).find((name) => /^read-stones.*\.db$/.test(name)) ?? '')
  const start = dyingFirst(realOf('documents/checkpoint-worker'))
  const checkpoints = checkpointer((_found, sentence) => void told.push(sentence), start)
  checkpoints.written(path, 4_000)
  await until('the death', () => told.length > 0, 10_000)
  assert.match(told[0] ?? '', 'the thread for the checkpoints of read models failed')
  const before = bytesOf(folder)
  checkpoints.written(path, 4_000)
  await until('a checkpoint', () => bytesOf(folder) > before, 10_000)
  assert.is(told.length, 1)
  await checkpoints.close()
  await reads.close()
})

test('of the log that dies is told of and stood in for, and the next checkpoint starts another', async ({
  folder,
  told,
}) => {
  const log = new LogFile(join(folder, 'events.db'), eventLogFormat)
  const start = dyingFirst(realOf('events/checkpoint-worker', log.file))
  const checkpoints = new Checkpointer(log, (_found, sentence) => void told.push(sentence), start)
  checkpoints.committed(5_000, 0)
  await until('the death', () => told.length > 0, 10_000)
  assert.equal(checkpoints.stats, { checkpoints: 1, checkpointsOnLoop: 1 })
  checkpoints.committed(5_000, 0)
  await until('the next one', () => checkpoints.stats.checkpoints === 2, 10_000)
  assert.equal([checkpoints.stats.checkpointsOnLoop, told.length], [1, 1])
  await checkpoints.close()
  log.close()
})

test('of the vault that dies is told of, and the next shredding starts another', async ({ folder }) => {
  const path = join(folder, 'vault.db')
  const vault = openSqliteVault(path)
  const shredder = new Shredder(path, dyingFirst(realOf('vault/shred-worker', path)))
  const [died] = await Promise.allSettled([shredder.shred()])
  assert.match(died?.status === 'rejected' ? String(died.reason) : '', 'died')
  assert.is(await shredder.shred(), true)
  await shredder.close()
  await vault.close()
})

test.run()
