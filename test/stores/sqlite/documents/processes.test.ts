import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReadModel } from '../../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../../src/stores/sqlite/documents.ts'
import { diamonds, idsIn } from '../../../contract/read-store/model.ts'
import { FROM_SOURCE } from '../../../from-source.ts'
import { withFolder } from '../../../temporary-folder.ts'
import { until } from '../../../until.ts'

const writer = fileURLToPath(new URL('writer.ts', import.meta.url))
const ROUNDS = process.env['ADAMANT_FULL'] === '1' ? 20 : 3
const test = suite('read models in SQLite files shared by processes')

test('are read without errors and without going back while another process writes', async () => {
  await withFolder(async (folder) => {
    const reading = openSqliteReadStore(folder)
    const model = await reading.model(diamonds)
    const child = startWriter(folder)
    let last = 0
    await writes(child, async () => {
      const position = await positionOf(model)
      const count = await model.count({ owner: 1 })
      assert.ok(position >= last && count >= position * 10, `${count} documents at ${position} after ${last}`)
      last = position
      return position > 60
    })
    await kill(child)
    await reading.close()
  })
})

test('have exactly the documents and counts of their checkpoint after kill -9', async () => {
  await withFolder(async (folder) => {
    let reached = 0
    for (let round = 1; round <= ROUNDS; round++) {
      rmSync(folder, { recursive: true })
      const watching = openSqliteReadStore(folder)
      const model = await watching.model(diamonds)
      const child = startWriter(folder)
      await writes(child, async () => (await positionOf(model)) > round * 13)
      await kill(child)
      await watching.close()
      reached = await checkDocuments(folder)
      assert.ok(reached > round * 13)
    }
  })
})

async function checkDocuments(folder: string): Promise<number> {
  const store = openSqliteReadStore(folder)
  const build = await store.live(diamonds)
  const n = Number((await build.checkpoint())?.event?.position.commit ?? 0n)
  const model = await store.model(diamonds)
  const removed = n % 2 === 1 ? 1 : 0
  assert.is(await model.count({ owner: 1 }), n * 10 + 1 + removed)
  assert.is(await model.count({ owner: 1, isColored: 1 }), n * 5)
  assert.is(await model.count({ owner: 1, isPublished: 1 }), n % 2)
  assert.equal(await model.get(1, ['v4']), { v4: String(n) })
  assert.is((await idsIn(store)).length, Math.min(1000, n * 10 + 1 + removed))
  await store.close()
  return n
}

const startWriter = (folder: string) =>
  spawn(process.execPath, [...FROM_SOURCE, writer, folder], { stdio: ['ignore', 'ignore', 'inherit'] })

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

const writes = (child: ChildProcess, holds: () => Promise<boolean>): Promise<void> =>
  until('the writer to get on', async () => {
    if (child.exitCode !== null) throw new Error(`the writer ended with ${child.exitCode}`)
    return holds()
  })

async function positionOf(model: ReadModel): Promise<number> {
  const position = await model.position()
  return position === 'start' ? 0 : Number(position.commit)
}

test.run()
