import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StoreUnavailable } from '../ports/event-store.ts'
import type { FileEntry } from '../ports/file-store.ts'

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** @throws StoreUnavailable for an error of the file system, such as a full disk */
export async function mapFileSystemErrors<Result>(action: () => Promise<Result>): Promise<Result> {
  try {
    return await action()
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    throw new StoreUnavailable(`files: ${error instanceof Error ? error.message : codeOf(error)}`)
  }
}

/** @returns undefined if the file does not exist */
export async function ifExists<Result>(action: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await action()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Paths in the folder: `incoming/` for temporary files, `ab/cd/{digest}` for stored files. All in one file system. */
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

/** Creates the file's folder durably: a folder is an entry of its parent, so the parents are synced too. */
export async function makeFolderOf(file: string): Promise<void> {
  const folder = dirname(file)
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  await syncFolder(dirname(folder))
  await syncFolder(dirname(dirname(folder)))
}

/** A rename survives a power failure only if the folder is synced too. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The token is inode and modification time in nanoseconds. Renaming the file changes neither. */
export async function readTouch(path: string): Promise<Pick<FileEntry, 'touchToken' | 'touchedAt'> | undefined> {
  const found = await ifExists(() => stat(path, { bigint: true }))
  return found && { touchToken: `${found.ino}-${found.mtimeNs}`, touchedAt: Number(found.mtimeMs) }
}

export const readTouchToken = async (path: string): Promise<string | undefined> => (await readTouch(path))?.touchToken
