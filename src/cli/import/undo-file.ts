import { existsSync, readFileSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { BadUsage } from '../failure.ts'

/**
 * What it takes to find again what an import did: the log itself has it all. Written before the first change, so that an
 * import that was killed can be taken back too.
 */
const undoFile = z.object({
  format: z.literal('adamant-undo/1'),
  /** Of the import: the records of its bulks and the `$correlationId` of its events are made of it. */
  import: z.uuid(),
  account: z.int().positive(),
  email: z.string(),
  /** The log's identity. */
  log: z.string(),
  file: z.string(),
  /** ISO 8601, UTC. */
  at: z.string(),
})

export type UndoFile = z.infer<typeof undoFile>

/** The folder of undo files, below DATA_DIR. */
const FOLDER = 'undo'

/** Writes it so that it outlives a fall of power. @returns its path */
export async function writeUndoFile(dataDir: string, undo: UndoFile): Promise<string> {
  const folder = join(resolve(dataDir), FOLDER)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `import-${undo.at.replaceAll(/[-:]|\.\d+/g, '')}-${undo.import.slice(0, 8)}.json`)
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(`${JSON.stringify(undo)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  const parent = await open(folder)
  await parent.sync().finally(() => parent.close())
  return path
}

/** @throws BadUsage for what is no undo file */
export function readUndoFile(path: string): UndoFile {
  if (!existsSync(path)) throw new BadUsage(`--undo ${path}: there is no such file`)
  const { data } = undoFile.safeParse(jsonOf(readFileSync(path, 'utf8')))
  if (data !== undefined) return data
  throw new BadUsage(`--undo ${path}: it is no undo file; import says the name of the one that it writes`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // No JSON is no undo file either.
  }
}
