import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { BadUsage, Failed } from '../operation.ts'

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const bytes = z.int().min(0)

const schema = z.object({
  format: z.literal('adamant-backup/1'),
  /** The release that made it, and when. */
  release: z.string(),
  made: z.string(),
  log: z.object({
    /** EventStore.identity(), and the epoch that it was in. */
    identity: z.string(),
    epoch: z.int().min(0),
    events: z.int().min(0),
    /** Where its last event stands, as `events` prints it, and that event's id. */
    position: z.string(),
    last: z.string(),
    /** null where the log is on a server, which has a way of its own. */
    file: z.object({ bytes, sha256: digest }).nullable(),
  }),
  /** Of `persons.jsonl`; releases up to 4.0 have no such file. */
  persons: z.object({ bytes, sha256: digest }).optional(),
  /** Each lies in `files/` under its SHA-256. */
  files: z.array(z.object({ digest, bytes })),
  /** Those that the log refers to, and the installation did not have whole. */
  missing: z.array(digest),
})

/** What a backup holds, with the digests of all of it. It is written last: a folder without it is no backup. */
export type Manifest = z.output<typeof schema>

export const FILES_FOLDER = 'files'
/** The rows of persons, sealed as they are: one line of JSON each. */
export const PERSONS_FILE = 'persons.jsonl'
const NAME = 'manifest.json'

/** @param sync makes a path of the folder last */
export function writeManifest(folder: string, manifest: Manifest, sync: (path: string) => void): void {
  const draft = join(folder, `${NAME}.part`)
  writeFileSync(draft, `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 })
  sync(draft)
  renameSync(draft, join(folder, NAME))
  sync(folder)
}

/** @throws BadUsage where there is none, Failed where it can't be read */
export function readManifest(folder: string): Manifest {
  const file = join(folder, NAME)
  if (!existsSync(file)) {
    throw new BadUsage(`${folder} is no whole backup: it has no ${NAME}, which \`npx adamant backup\` writes last`)
  }
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    throw new Failed(`${file} is damaged, or of a newer release: it can not be read as a backup's manifest`)
  }
}
