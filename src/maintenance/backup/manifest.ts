import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { PersonRow, PersonStore } from '../../stores/ports/person-store.ts'
import { syncPath } from '../../wiring/backups.ts'
import { LOG_FILE } from '../../wiring/store-engines.ts'
import { digestOf, faultIn, faultOf, type ContentDigest } from '../copy/files.ts'
import { BadUsage, OperationFailure, runStep, type Operation } from '../operation.ts'

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const bytes = z.int().min(0)

const manifestSchema = z.object({
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
export type Manifest = z.output<typeof manifestSchema>

export const FILES_FOLDER = 'files'
const MANIFEST_FILE = 'manifest.json'
/** The rows of persons, sealed as they are: one line of JSON each. */
const PERSONS_FILE = 'persons.jsonl'

export function writeManifest(folder: string, made: Manifest): void {
  const draft = join(folder, `${MANIFEST_FILE}.part`)
  writeFileSync(draft, `${JSON.stringify(made, null, 1)}\n`, { mode: 0o600 })
  syncPath(draft)
  renameSync(draft, join(folder, MANIFEST_FILE))
  syncPath(folder)
}

/** @throws BadUsage where there is none, Failed where it can't be read */
export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST_FILE)
  if (!existsSync(file)) {
    throw new BadUsage(
      `${folder} is no whole backup: it has no ${MANIFEST_FILE}, which \`npx adamant backup\` writes last`,
    )
  }
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    throw new OperationFailure(`${file} is damaged, or of a newer release: it can not be read as a backup's manifest`)
  }
}

const personRowSchema = z.object({ account: z.int().min(1), sealed: z.base64(), at: z.int() })

/** As they are at this moment: who is forgotten is in no backup that is made afterwards. */
export async function writePersons(folder: string, persons: PersonStore): Promise<ContentDigest> {
  const lines: string[] = []
  for await (const { account, sealed, at } of persons.all()) {
    lines.push(`${JSON.stringify({ account, sealed: sealed.toString('base64'), at })}\n`)
  }
  const file = join(folder, PERSONS_FILE)
  writeFileSync(file, lines.join(''), { mode: 0o600 })
  syncPath(file)
  return digestOfFile(file)
}

/** The rows of persons that a backup holds; none where it is of a release that had none. @throws Failed where a line is none */
export function* personsIn(folder: string, { persons }: Manifest): Generator<PersonRow> {
  if (persons === undefined) return
  const file = join(folder, PERSONS_FILE)
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue
    const { data } = personRowSchema.safeParse(JSON.parse(text))
    if (data === undefined)
      throw new OperationFailure(`${file} is of a newer release: it can not be read as a backup's persons`)
    yield { ...data, sealed: Buffer.from(data.sealed, 'base64') }
  }
}

export const digestOfFile = (path: string): Promise<ContentDigest> => digestOf(createReadStream(path))

/** Undefined where there is no such file. @throws Failed where it is there, and can't be read */
async function digestFileIfExists(path: string): Promise<ContentDigest | undefined> {
  try {
    return await digestOfFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    const why = error instanceof Error ? error.message : String(error)
    throw new OperationFailure(
      `The backup can't be read: ${why}. Nothing was changed; make ${path} readable, or take another`,
    )
  }
}

/**
 * Reads the whole backup before anything of it is used.
 * @param files those in the folder
 * @throws Failed for the first file that is missing or has other bytes
 */
export async function verifyBackup(
  operation: Operation,
  folder: string,
  { log, persons, files: wanted }: Manifest,
  files: FileStore,
): Promise<void> {
  const step = { label: 'verifying the backup', total: wanted.length + 1, unit: 'files' }
  await runStep(operation, step, async (update) => {
    const parts = [
      [LOG_FILE, log.file?.sha256],
      [PERSONS_FILE, persons?.sha256],
    ] as const
    for (const [name, sha256] of parts) {
      const path = join(folder, name)
      requireIntact(path, sha256 && faultIn(sha256, await digestFileIfExists(path)))
    }
    let verified = 1
    update(verified)
    for (const file of wanted) {
      requireIntact(`the file ${file.digest} in ${folder}`, await faultOf(files, file.digest))
      update(++verified)
    }
  })
}

function requireIntact(what: string, fault: string | undefined): void {
  if (fault === undefined) return
  throw new OperationFailure(`The backup is damaged: ${what} ${fault}. Nothing was changed; take another backup`)
}
