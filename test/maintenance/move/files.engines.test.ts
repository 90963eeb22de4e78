import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Binary, MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copyFiles, verifyFiles } from '../../../src/maintenance/move/files.ts'
import { openLog } from '../../../src/runtime/log.ts'
import { openDirectoryFiles } from '../../../src/stores/folder/files.ts'
import { placesIn } from '../../../src/stores/folder/places.ts'
import type { Files } from '../../../src/stores/ports/files.ts'
import { openMongo } from '../../../src/stores/mongodb/mongodb.ts'
import { all, rejection } from '../../contract/event-store/given.ts'
import { mongoServer } from '../../mongo-server.ts'

/** Files, and a way to flip one byte of one of them behind the adapter's back. */
type Kept = { readonly files: Files; damage(digest: string): Promise<void>; close(): Promise<void> }
type Open = () => Promise<Kept>

function inFolder(): Promise<Kept> {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-copied-files-'))
  const files = openDirectoryFiles(folder)
  return Promise.resolve({
    files,
    async damage(digest) {
      const path = placesIn(folder).fileOf(digest)
      await writeFile(path, flipped(await readFile(path)))
    },
    async close() {
      await files.close()
      rmSync(folder, { recursive: true })
    },
  })
}

const server = await mongoServer('copied files')

async function inMongo(): Promise<Kept> {
  const address = server?.newDatabase() ?? ''
  const stores = openMongo(address, openLog('silent'))
  const client = new MongoClient(address)
  return {
    files: stores.files,
    async damage(digest) {
      const { _id: file } = found(await client.db().collection('fs.files').findOne({ filename: digest }))
      const chunks = client.db().collection<{ data: Binary }>('fs.chunks')
      const { _id, data } = found(await chunks.findOne({ files_id: file, n: 0 }))
      await chunks.updateOne({ _id }, { $set: { data: new Binary(flipped(Buffer.from(data.buffer))) } })
    },
    async close() {
      await stores.close()
      await client.close()
      await server?.drop(address)
    },
  }
}

function found<Document>(document: Document | null): Document {
  if (document === null) throw new Error('there is no such document')
  return document
}

function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  changed[100] = (changed[100] ?? 0) ^ 1
  return changed
}

async function keep(files: Files, bytes: Buffer): Promise<string> {
  const incoming = await files.receive()
  await incoming.write(bytes)
  const { digest, release } = await incoming.keep()
  release()
  return digest
}

const unseen = () => undefined

function rules(name: string, openSource: Open, openTarget: Open): void {
  const test = suite<{ source: Kept; target: Kept; digests: string[] }>(`files that are copied ${name}`)
  test.before.each(async (given) => {
    given.source = await openSource()
    given.target = await openTarget()
    given.digests = []
    for (const size of [1, 700_000, 300]) given.digests.push(await keep(given.source.files, randomBytes(size + 200)))
  })
  test.after.each(async ({ source, target }) => {
    await source.close()
    await target.close()
  })

  test('have the same bytes, and are copied once', async ({ source, target, digests }) => {
    assert.is((await copyFiles(source.files, target.files, unseen)).files, 3)
    assert.is((await copyFiles(source.files, target.files, unseen)).bytes, 0)
    await verifyFiles(source.files, target.files, new Set(), unseen)
    const there = (await all(target.files.list())).map(({ digest }) => digest)
    assert.equal(there.toSorted(), digests.toSorted())
    for (const digest of digests) {
      const hash = createHash('sha256')
      for await (const chunk of (await target.files.read(digest)) ?? []) hash.update(chunk as Buffer)
      assert.is(hash.digest('hex'), digest)
    }
  })

  test('are named where one is damaged at the source, and it is not copied', async ({ source, target, digests }) => {
    const [, damaged = ''] = digests
    await source.damage(damaged)
    const error = await rejection(copyFiles(source.files, target.files, unseen))
    assert.match(String(error), new RegExp(`The source's file ${damaged} is damaged`))
    assert.is(await target.files.read(damaged), undefined)
    const there = await all(target.files.list())
    for (const { digest } of there) assert.ok(digests.includes(digest), `${digest} is no file of the source`)
  })

  test('are named where one is damaged at the target', async ({ source, target, digests }) => {
    await copyFiles(source.files, target.files, unseen)
    const [, damaged = ''] = digests
    await target.damage(damaged)
    const error = await rejection(verifyFiles(source.files, target.files, new Set(), unseen))
    assert.match(String(error), new RegExp(`The target's file ${damaged} is damaged`))
  })

  test('are named where one is missing at the target', async ({ source, target, digests }) => {
    await copyFiles(source.files, target.files, unseen)
    const [missing = ''] = digests
    await target.files.remove(missing, (await target.files.markOf(missing)) ?? '')
    const error = await rejection(verifyFiles(source.files, target.files, new Set(), unseen))
    assert.match(String(error), new RegExp(`does not have the file ${missing}`))
  })

  test.run()
}

rules('from a folder to a folder', inFolder, inFolder)
if (server !== undefined) {
  rules('from a folder to MongoDB', inFolder, inMongo)
  rules('from MongoDB to a folder', inMongo, inFolder)
}
