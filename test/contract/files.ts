import { createHash, randomBytes } from 'node:crypto'
import type { Readable } from 'node:stream'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BytesMissing, type FileStore, type StoredFile } from '../../src/stores/ports/file-store.ts'
import { all } from './event-store/given.ts'
import { until } from '../until.ts'

type Given = { files: FileStore; other: FileStore }

/**
 * Runs the rules of the file store port (src/stores/ports/file-store.ts) on an adapter.
 * @param open prepares an empty store; each call of `connect` opens it, as another process does, and `clean` deletes it
 */
export function filesContract(
  name: string,
  open: () => Promise<{ readonly connect: () => FileStore; readonly clean: () => Promise<void> }>,
): void {
  const test = suite<Given>(name)
  let clean = async () => {}
  test.before.each(async (given) => {
    const location = await open()
    clean = location.clean
    given.files = location.connect()
    given.other = location.connect()
  })
  test.after.each(async ({ files, other }) => {
    await Promise.all([files.close(), other.close()])
    await clean()
  })

  test('returns a stored file byte for byte to every process', async ({ files, other }) => {
    const bytes = randomBytes(300_000)
    const kept = await keep(files, bytes)
    assert.is(kept.digest, sha256(bytes))
    assert.is(kept.bytes, bytes.length)
    assert.ok(bytes.equals(await bytesOf(other, kept.digest)))
  })

  test('returns a range including both ends', async ({ files }) => {
    const { digest } = await keep(files, Buffer.from('0123456789'))
    assert.is((await bytesOf(files, digest, { start: 2, end: 4 })).toString(), '234')
    assert.is((await bytesOf(files, digest, { start: 9, end: 9 })).toString(), '9')
  })

  test('refuses a read that expects another length, before anything is read', async ({ files }) => {
    const { digest } = await keep(files, Buffer.from('0123456789'))
    for (const expectedBytes of [9, 11]) {
      const refused = await files.readFile(digest, { range: { start: 0, end: 1 }, expectedBytes }).catch(toError)
      assert.instance(refused, BytesMissing)
    }
    assert.ok(await files.readFile(digest, { expectedBytes: 10 }))
  })

  test('stores the same bytes once when they are uploaded concurrently', async ({ files, other }) => {
    const bytes = randomBytes(1_000)
    await Promise.all([keep(files, bytes), keep(other, bytes), keep(files, bytes)])
    assert.equal(await digestsIn(files), [sha256(bytes)])
  })

  test('does not show a file that is being uploaded or was discarded', async ({ files, other }) => {
    const incoming = await files.receive()
    await incoming.write(Buffer.from('%PDF-'))
    assert.equal(await digestsIn(other), [])
    assert.is(await other.readFile(sha256(Buffer.from('%PDF-'))), undefined)
    await incoming.discard()
    assert.equal(await all(files.temporaryFiles()), [])
  })

  test('ignores a discard of a stored file', async ({ files }) => {
    const incoming = await files.receive()
    await incoming.write(Buffer.from('kept'))
    const { digest } = await incoming.keep()
    await incoming.discard()
    assert.is((await bytesOf(files, digest)).toString(), 'kept')
  })

  test('does not have a file that was never stored', async ({ files }) => {
    assert.is(await files.readFile('0'.repeat(64)), undefined)
    assert.is(await files.readTouchToken('0'.repeat(64)), undefined)
    assert.is(await files.remove('0'.repeat(64), '1-1'), 'missing')
  })

  test('removes a file only if it was not touched since its touch token was read', async ({ files, other }) => {
    const { digest, ensureStored, release } = await keep(files, Buffer.from('a report'))
    const before = await touchTokenOf(other, digest)
    await ensureStored()
    release()
    assert.is(await other.remove(digest, before), 'touched')
    assert.is((await bytesOf(files, digest)).toString(), 'a report')
    assert.is(await other.remove(digest, await touchTokenOf(files, digest)), 'removed')
    assert.is(await files.readFile(digest), undefined)
    assert.equal(await digestsIn(files), [])
  })

  test('returns the same touch token in every process and in the list', async ({ files, other }) => {
    const { digest, release } = await keep(files, Buffer.from('touched'))
    release()
    const [entry] = await all(other.list())
    assert.is(entry?.digest, digest)
    assert.is(entry?.touchToken, await touchTokenOf(files, digest))
    const touchedAt = entry?.touchedAt ?? 0
    assert.ok(Date.UTC(2020, 0) < touchedAt && touchedAt < Date.UTC(2200, 0), 'milliseconds since 1970')
  })

  test('touches a file when the same bytes are uploaded again', async ({ files, other }) => {
    const first = await keep(files, Buffer.from('twice'))
    first.release()
    const between = await touchTokenOf(files, first.digest)
    const second = await keep(other, Buffer.from('twice'))
    second.release()
    assert.is(await files.remove(first.digest, between), 'touched')
  })

  test('touches an acquired file repeatedly until it is released', async ({ files, other }) => {
    const { digest, release } = await keep(files, Buffer.from('held'))
    const start = await touchTokenOf(other, digest)
    await until('the file to be touched', async () => (await touchTokenOf(other, digest)) !== start)
    release()
    // A touch that is in progress may still arrive.
    await until(
      'the file to be removed',
      async () => (await other.remove(digest, await touchTokenOf(other, digest))) === 'removed',
    )
  })

  test('stores a file again that was removed while it was acquired', async ({ files, other }) => {
    const bytes = randomBytes(600_000)
    const { digest, ensureStored, release } = await keep(files, bytes)
    await until(
      'the file to be removed',
      async () => (await other.remove(digest, await touchTokenOf(other, digest))) === 'removed',
    )
    await ensureStored()
    release()
    assert.ok(bytes.equals(await bytesOf(other, digest)))
    assert.equal(await digestsIn(other), [digest])
  })

  test('lets a read finish after its file was removed', async ({ files }) => {
    const bytes = randomBytes(500_000)
    const { digest, release } = await keep(files, bytes)
    release()
    const reading = await files.readFile(digest)
    assert.is(await files.remove(digest, await touchTokenOf(files, digest)), 'removed')
    assert.ok(reading !== undefined && bytes.equals(await collect(reading)))
  })

  test('keeps an upload when the same file is removed concurrently', async ({ files, other }) => {
    const bytes = Buffer.from('contended')
    for (let round = 0; round < 50; round++) {
      const before = (await other.readTouchToken(sha256(bytes))) ?? ''
      const [kept] = await Promise.all([keep(files, bytes), other.remove(sha256(bytes), before)])
      assert.ok(bytes.equals(await bytesOf(files, kept.digest)), `round ${round}`)
      kept.release()
    }
  })

  test('does not remove an upload that was touched since it was listed', async ({ files, other }) => {
    const live = await files.receive()
    await live.write(Buffer.from('whole'))
    const [before] = await all(other.temporaryFiles())
    assert.ok(before)
    await until(
      'the upload to be touched',
      async () => (await all(other.temporaryFiles()))[0]?.touchToken !== before.touchToken,
    )
    assert.is(await other.removeTemporaryFile(before), false)
    const { digest } = await live.keep()
    assert.is((await bytesOf(other, digest)).toString(), 'whole')
  })

  test('removes an upload that an ended process left, but not one in progress', async ({ files, other }) => {
    const abandoned = await files.receive()
    await abandoned.write(Buffer.from('half'))
    await files.close()
    const before = await all(other.temporaryFiles())
    const live = await other.receive()
    await live.write(Buffer.from('whole'))
    const removed = await Promise.all(before.map((leftover) => other.removeTemporaryFile(leftover)))
    assert.is(removed.filter(Boolean).length, 1)
    const { digest } = await live.keep()
    assert.is((await bytesOf(other, digest)).toString(), 'whole')
  })

  test.run()
}

async function keep(files: FileStore, bytes: Buffer): Promise<StoredFile> {
  const incoming = await files.receive()
  for (let from = 0; from < bytes.length; from += 65_536) await incoming.write(bytes.subarray(from, from + 65_536))
  return incoming.keep()
}

const toError = (error: unknown) => error

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function bytesOf(files: FileStore, digest: string, range?: { start: number; end: number }): Promise<Buffer> {
  const stream = await files.readFile(digest, { range })
  assert.ok(stream !== undefined, `file ${digest} is missing`)
  return collect(stream)
}

async function collect(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

const digestsIn = async (files: FileStore) => (await all(files.list())).map(({ digest }) => digest)

async function touchTokenOf(files: FileStore, digest: string): Promise<string> {
  const token = await files.readTouchToken(digest)
  assert.ok(token !== undefined, `file ${digest} is missing`)
  return token
}
