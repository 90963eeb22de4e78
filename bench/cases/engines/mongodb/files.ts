import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { GridFSBucket, type Db } from 'mongodb'
import type { FileStore } from '../../../../src/stores/ports/file-store.ts'
import type { Case } from '../../../group.ts'
import { perCall, overhead } from '../overhead.ts'

/** Bytes of a report, and number of files per measurement. */
const SIZE = 512 * 1024
const FILES = 2

const bucketOf = (db: Db) => new GridFSBucket(db, { bucketName: 'bare' })

async function storeFile(files: FileStore, bytes: Uint8Array): Promise<string> {
  const incoming = await files.receive()
  await incoming.write(bytes)
  const { digest, release } = await incoming.keep()
  release()
  return digest
}

async function storeFileBare(bucket: GridFSBucket, bytes: Uint8Array): Promise<void> {
  const upload = bucket.openUploadStream('report')
  upload.end(bytes)
  await once(upload, 'finish')
}

export function fileWrites(files: FileStore, db: Db): Case {
  const bucket = bucketOf(db)
  return overhead(
    'MongoDB: store a file of 512 KiB',
    perCall(FILES, () => storeFile(files, randomBytes(SIZE))),
    perCall(FILES, () => storeFileBare(bucket, randomBytes(SIZE))),
  )
}

export async function fileReads(files: FileStore, db: Db): Promise<Case> {
  const bucket = bucketOf(db)
  const bytes = randomBytes(SIZE)
  const digest = await storeFile(files, bytes)
  await storeFileBare(bucket, bytes)
  return overhead(
    'MongoDB: read a file of 512 KiB',
    perCall(FILES, async () => drain(await files.readFile(digest))),
    perCall(FILES, () => drain(bucket.openDownloadStreamByName('report'))),
  )
}

async function drain(stream: Readable | undefined): Promise<void> {
  let bytes = 0
  for await (const chunk of stream ?? []) bytes += (chunk as Buffer).length
  if (bytes !== SIZE) throw new Error(`${bytes} bytes were read`)
}
