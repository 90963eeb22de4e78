import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { FileStore, StoredFile } from '../../stores/ports/file-store.ts'
import type { PlannedBulk } from '../../trade-files/plan.ts'
import { storeContent, withFileHold } from '../core/file-holds.ts'

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
  return withFileHold(held, async () => {
    for (const digest of digests) {
      const file = await storeContent(files, createReadStream(join(folder, digest)))
      held.push(file)
      if (file.digest !== digest) throw new Error(`the file ${digest} of an archive has other bytes`)
    }
    const result = await append()
    for (const file of held) await file.ensureStored()
    return result
  })
}
