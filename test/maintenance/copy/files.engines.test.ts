import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Binary, MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copyFiles, faultOfContent } from '../../../src/maintenance/copy/files.ts'
import { openDirectoryFileStore } from '../../../src/stores/folder/files.ts'
import { layoutOf } from '../../../src/stores/folder/directory-layout.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'
import { openMongo } from '../../../src/stores/mongodb/mongodb.ts'
import { all, rejection } from '../../contract/event-store/given.ts'
import { mongoServer } from '../../mongo-server.ts'

/** A file store, with a way to change one bit of a file without the adapter. */
type OpenedFiles = { readonly files: FileStore; damage(digest: string): Promise<void>; close(): Promise<void> }
type OpenFiles = () => Promise<OpenedFiles>

function inFolder(): Promise<OpenedFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-copied-files-'))
  const files = openDirectoryFileStore(folder)
  return Promise.resolve({
    files,
    async damage(digest) {
      const path = layoutOf(folder).pathOf(digest)
      await writeFile(path, flipped(await readFile(path)))
    },
    async close() {
      await files.close()
      rmSync(folder, { recursive: true })
    },
  })
}

const server = await mongoServer('copied files')

async function inMongo(): Promise<OpenedFiles> {
  const address = server?.newDatabase() ?? ''
  const stores = openMongo(address)
  const client = new MongoClient(address)
  return {
    files: stores.files,
    async damage(digest) {
      const { _id: file } = required(await client.db().collection('fs.files').findOne({ filename: digest }))
      const chunks = client.db().collection<{ data: Binary }>('fs.chunks')
      const { _id, data } = required(await chunks.findOne({ files_id: file, n: 0 }))
      await chunks.updateOne({ _id }, { $set: { data: new Binary(flipped(Buffer.from(data.buffer))) } })
    },
    async close() {
      await stores.close()
      await client.close()
      await server?.drop(address)
    },
  }
}

function required<Document>(document: Document | null): Document {
  if (document === null) throw new Error('no such document')
  return document
}

function flipped(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  changed[100] = (changed[100] ?? 0) ^ 1
  return changed
}

async function storeFile(files: FileStore, bytes: Buffer): Promise<string> {
  const incoming = await files.receive()
  await incoming.write(bytes)
  const { digest, release } = await incoming.keep()
  release()
  return digest
}

const SIZES = [201, 700_200, 500]

/** Copies all files of the source, without the results of earlier runs. */
async function copyAll({ source, target }: { readonly source: OpenedFiles; readonly target: OpenedFiles }) {
  const whole = new Map<string, number>()
  const digests = (await all(source.files.list())).map(({ digest }) => digest)
  const faulty = await copyFiles(
    { source: source.files, target: target.files, digests, intactFiles: whole },
    () => undefined,
  )
  return { whole, faulty }
}

async function digestIn(files: FileStore, digest: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of (await files.readFile(digest)) ?? []) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

function rules(name: string, openSource: OpenFiles, openTarget: OpenFiles): void {
  const test = suite<{ source: OpenedFiles; target: OpenedFiles; digests: string[] }>(`the copy of files ${name}`)
  test.before.each(async (given) => {
    given.source = await openSource()
    given.target = await openTarget()
    given.digests = []
    for (const size of SIZES) given.digests.push(await storeFile(given.source.files, randomBytes(size)))
  })
  test.after.each(async ({ source, target }) => {
    await source.close()
    await target.close()
  })

  test('has the same bytes, and copies each file once', async ({ source, target, digests }) => {
    const { whole, faulty } = await copyAll({ source, target })
    assert.equal([...whole].toSorted(), digests.map((digest, index) => [digest, SIZES[index]]).toSorted())
    assert.is(faulty.size, 0)
    const marks = await all(target.files.list())
    assert.equal((await copyAll({ source, target })).whole, whole)
    assert.equal((await all(target.files.list())).toSorted(), marks.toSorted(), 'a file was written again')
    assert.equal(marks.map(({ digest }) => digest).toSorted(), digests.toSorted())
    for (const digest of digests) assert.is(await digestIn(target.files, digest), digest)
  })

  test('reports a file that is damaged at the source, and does not copy it', async ({ source, target, digests }) => {
    const [, damaged = ''] = digests
    await source.damage(damaged)
    const { whole, faulty } = await copyAll({ source, target })
    assert.equal([...faulty.keys()], [damaged])
    assert.match(faultOfContent(damaged, faulty.get(damaged)) ?? '', /^is damaged: its SHA-256 is [0-9a-f]{64}$/)
    assert.is(await target.files.readFile(damaged), undefined)
    assert.equal([...whole.keys()].toSorted(), digests.filter((digest) => digest !== damaged).toSorted())
  })

  test('reports a file that is missing at the source, and copies all others', async ({ source, target, digests }) => {
    const [missing = '', ...others] = digests
    const whole = new Map<string, number>()
    await source.files.remove(missing, (await source.files.readTouchToken(missing)) ?? '')
    const faulty = await copyFiles(
      { source: source.files, target: target.files, digests, intactFiles: whole },
      () => undefined,
    )
    assert.equal([...faulty], [[missing, undefined]])
    assert.is(faultOfContent(missing, undefined), 'is missing')
    assert.equal([...whole.keys()].toSorted(), others.toSorted())
  })

  test('repairs files that are damaged or missing at the target', async ({ source, target, digests }) => {
    await copyAll({ source, target })
    const [damaged = '', missing = ''] = digests
    await target.damage(damaged)
    await target.files.remove(missing, (await target.files.readTouchToken(missing)) ?? '')
    const { whole, faulty } = await copyAll({ source, target })
    assert.is(faulty.size, 0)
    assert.equal([...whole.keys()].toSorted(), digests.toSorted())
    for (const digest of digests) assert.is(await digestIn(target.files, digest), digest)
  })

  test('fails if the target does not return the bytes that were written', async ({ source, target }) => {
    const forgetful = { ...target, files: { ...target.files, readFile: () => Promise.resolve(undefined) } }
    assert.match(
      String(await rejection(copyAll({ source, target: forgetful }))),
      /The target's file [0-9a-f]{64} is missing/,
    )
    const files: FileStore = { ...target.files, readFile: () => Promise.resolve(Readable.from([Buffer.from('other')])) }
    const changing = { ...target, files }
    assert.match(
      String(await rejection(copyAll({ source, target: changing }))),
      /The target's file [0-9a-f]{64} is damaged/,
    )
  })

  test.run()
}

rules('from a folder to a folder', inFolder, inFolder)
if (server !== undefined) {
  rules('from a folder to MongoDB', inFolder, inMongo)
  rules('from MongoDB to a folder', inMongo, inFolder)
}
