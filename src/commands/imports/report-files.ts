import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { FileStore, StoredFile } from '../../stores/ports/file-store.ts'
import type { PlannedBulk } from '../../trade-files/plan.ts'
import { withFileHold } from '../core/file-holds.ts'

/** The PDFs of reports that came with a stock list: files in a folder, each with its SHA-256 as name. */
export type ReportFiles = { readonly files: FileStore; readonly folder: string }

/**
 * Stores the PDFs of a bulk's reports, and holds them while the bulk is appended.
 * @throws StoreUnavailable, system errors, and what `append` throws
 */
export async function withReportFiles<Result>(
  { files, folder }: ReportFiles,
  { creates, updates }: PlannedBulk,
  append: () => Promise<Result>,
): Promise<Result> {
  const reports = [...creates.flatMap((stone) => stone.reports), ...updates.map(({ report }) => report)]
  const digests = new Set(reports.flatMap((report) => report?.file?.digest ?? []))
  const held: StoredFile[] = []
  try {
    for (const digest of digests) held.push(await storeFile(files, join(folder, digest), digest))
  } catch (error) {
    for (const file of held) file.release()
    throw error
  }
  return withFileHold(held, async () => {
    const result = await append()
    for (const file of held) await file.ensureStored()
    return result
  })
}

async function storeFile(files: FileStore, path: string, digest: string): Promise<StoredFile> {
  const upload = await files.receive()
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) await upload.write(chunk)
    const stored = await upload.keep()
    if (stored.digest === digest) return stored
    stored.release()
    throw new Error(`the file ${digest} of an archive has other bytes`)
  } finally {
    await upload.discard()
  }
}
