import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StoreUnavailable } from '../ports/event-store.ts'

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** @throws StoreUnavailable for what the file system says, such as a full disk */
export async function mapFileSystemErrors<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    throw new StoreUnavailable(`files: ${error instanceof Error ? error.message : codeOf(error)}`)
  }
}

/** Runs an action on a file that may be gone. @returns undefined when it is */
export async function ifExists<Result>(action: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await action()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Where things are in the folder: `incoming/` for what nobody sees, `ab/cd/{digest}` for files. One file system. */
export type DirectoryLayout = {
  readonly folder: string
  readonly incoming: string
  readonly pathOf: (digest: string) => string
}

export const layoutOf = (folder: string): DirectoryLayout => ({
  folder,
  incoming: join(folder, 'incoming'),
  pathOf: (digest) => join(folder, digest.slice(0, 2), digest.slice(2, 4), digest),
})

export const DIGEST = /^[0-9a-f]{64}$/

/** Makes the folder of a file, durably: a folder is an entry of its parent, which is synced too. */
export async function makeFolderOf(file: string): Promise<void> {
  const folder = dirname(file)
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  await syncFolder(dirname(folder))
  await syncFolder(dirname(dirname(folder)))
}

/** What was renamed into a folder survives a power failure only when the folder is synced as well. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A file's mark: which file it is, and when it was touched, to the nanosecond. Taking it aside changes neither. */
export async function readTouchToken(path: string): Promise<string | undefined> {
  const found = await ifExists(() => stat(path, { bigint: true }))
  return found && `${found.ino}-${found.mtimeNs}`
}
