import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openDirectoryFileStore } from '../../../src/stores/folder/files.ts'
import { openFiles } from '../../open-files.ts'
import { filesContract } from '../../contract/files.ts'

const newFolder = () => mkdtempSync(join(tmpdir(), 'adamant-files-'))

filesContract('files in a directory', async () => {
  const folder = newFolder()
  return {
    connect: () => openDirectoryFileStore(folder),
    clean: async () => rmSync(folder, { recursive: true }),
  }
})

const test = suite('a directory of files')

test('stores a file as ab/cd/{digest} and leaves nothing in the folder of uploads', async () => {
  const folder = newFolder()
  const files = openDirectoryFileStore(folder)
  const incoming = await files.receive()
  await incoming.write(Buffer.from('abc'))
  const { digest, release } = await incoming.keep()
  release()
  assert.is(digest.slice(0, 8), 'ba7816bf')
  assert.equal(readdirSync(join(folder, 'ba', '78')), [digest])
  assert.equal(readdirSync(join(folder, 'incoming')), [])
  await files.close()
  rmSync(folder, { recursive: true })
})

test('fails a read whose file is truncated meanwhile', async () => {
  const folder = newFolder()
  const files = openDirectoryFileStore(folder)
  const incoming = await files.receive()
  await incoming.write(Buffer.alloc(5_000_000))
  const { digest, release } = await incoming.keep()
  release()
  const stream = await files.readFile(digest, { expectedBytes: 5_000_000 })
  truncateSync(join(folder, digest.slice(0, 2), digest.slice(2, 4), digest), 4_000_000)
  const failed = await stream?.toArray().catch((error: unknown) => error)
  assert.is(failed instanceof Error && failed.name, 'BytesMissing')
  await files.close()
  rmSync(folder, { recursive: true })
})

test('leaves an upload open that began while it was closed, and the upload then closes its file', async () => {
  const folder = newFolder()
  const files = openDirectoryFileStore(folder)
  // Closing many files takes longer than opening one.
  for (let upload = 0; upload < 100; upload++) await files.receive()
  const [late] = await Promise.all([files.receive(), files.close()])
  await late.write(Buffer.from('abc'))
  await late.discard()
  assert.equal(
    openFiles().filter((path) => path.startsWith(folder)),
    [],
  )
  rmSync(folder, { recursive: true })
})

test('is empty for reads and unavailable for uploads after its folder was deleted', async () => {
  const folder = newFolder()
  const files = openDirectoryFileStore(folder)
  rmSync(folder, { recursive: true })
  assert.is(await files.readFile('0'.repeat(64)), undefined)
  try {
    await files.receive()
    assert.unreachable()
  } catch (error) {
    assert.is(error instanceof Error && error.name, 'StoreUnavailable')
  }
  await files.close()
})

test.run()
