import { createReadStream, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { FileStore } from '../../stores/ports/file-store.ts'
import type { PersonRow, PersonStore } from '../../stores/ports/person-store.ts'
import { syncPath } from '../../wiring/backups.ts'
import { LOG_FILE } from '../../wiring/store-engines.ts'
import { digestOf, faultOfContent, faultOfStoredFile, type ContentDigest } from '../copy/files.ts'
import { BadUsage, OperationFailure, runStep, type Operation } from '../operation.ts'

const digest = z.string().regex(/^[0-9a-f]{64}$/)
const bytes = z.int().min(0)

const manifestSchema = z.object({
  format: z.literal('adamant-backup/1'),
  /** Version of Adamant that created the backup. */
  release: z.string(),
  made: z.string(),
  log: z.object({
    /** EventStore.identity(). */
    identity: z.string(),
    epoch: z.int().min(0),
    events: z.int().min(0),
    /** Position (as `events` prints it) and id of the last event. */
    position: z.string(),
    last: z.string(),
    /** null if the log is on a server and therefore not part of the backup. */
    file: z.object({ bytes, sha256: digest }).nullable(),
  }),
  /** `persons.jsonl`; backups by releases up to 4.0 do not have it. */
  persons: z.object({ bytes, sha256: digest }).optional(),
  /** Stored in `files/` under their SHA-256. */
  files: z.array(z.object({ digest, bytes })),
  /** Files that the log refers to, but that were missing or damaged in the installation. */
  missing: z.array(digest),
})

/** The contents of a backup with their digests. It is written last: a folder without a manifest is not a complete backup. */
export type Manifest = z.output<typeof manifestSchema>

const MANIFEST_FILE = 'manifest.json'
/** Encrypted rows of personal data, one JSON object per line. */
const PERSONS_FILE = 'persons.jsonl'

/** Writes the manifest atomically and syncs it to disk. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const draft = join(folder, `${MANIFEST_FILE}.part`)
  writeFileSync(draft, `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 })
  syncPath(draft)
  renameSync(draft, join(folder, MANIFEST_FILE))
  syncPath(folder)
}

/** @throws BadUsage if it is missing, OperationFailure if it is invalid */
export function readManifest(folder: string): Manifest {
  const file = join(folder, MANIFEST_FILE)
  if (!existsSync(file)) {
    throw new BadUsage(
      `${folder} is not a complete backup: it has no ${MANIFEST_FILE}, which \`adamant backup\` writes last`,
    )
  }
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error
    throw new OperationFailure(`${file}: not a valid manifest; it is damaged, or was written by a newer release`)
  }
}

const personRowSchema = z.object({ account: z.int().min(1), sealed: z.base64(), at: z.int() })

/** Writes the current personal data: backups made after a person was forgotten do not contain that person. */
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

/** The personal data of a backup; none in backups by releases up to 4.0. @throws OperationFailure for an invalid line */
export function* personsIn(folder: string, { persons }: Manifest): Generator<PersonRow> {
  if (persons === undefined) return
  const file = join(folder, PERSONS_FILE)
  for (const text of readFileSync(file, 'utf8').split('\n')) {
    if (text === '') continue
    const { data } = personRowSchema.safeParse(JSON.parse(text))
    if (data === undefined)
      throw new OperationFailure(`${file}: has an invalid line; it was written by a newer release`)
    yield { ...data, sealed: Buffer.from(data.sealed, 'base64') }
  }
}

export const digestOfFile = (path: string): Promise<ContentDigest> => digestOf(createReadStream(path))

/** Undefined if the file does not exist. @throws OperationFailure if it cannot be read */
async function digestFileIfExists(path: string): Promise<ContentDigest | undefined> {
  try {
    return await digestOfFile(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperationFailure(
      `The backup cannot be read: ${reason}. Nothing was changed; make ${path} readable, or use another backup`,
    )
  }
}

/**
 * Reads the whole backup and verifies its digests.
 * @param files the backup's file store
 * @throws OperationFailure for the first missing or damaged file
 */
export async function verifyBackup(
  operation: Operation,
  folder: string,
  { log, persons, files: listedFiles }: Manifest,
  files: FileStore,
): Promise<void> {
  const step = { label: 'verifying the backup', total: listedFiles.length + 1, unit: 'files' }
  await runStep(operation, step, async (update) => {
    const parts = [
      [LOG_FILE, log.file?.sha256],
      [PERSONS_FILE, persons?.sha256],
    ] as const
    for (const [name, sha256] of parts) {
      const path = join(folder, name)
      requireIntact(path, sha256 && faultOfContent(sha256, await digestFileIfExists(path)))
    }
    let verified = 1
    update(verified)
    for (const file of listedFiles) {
      requireIntact(`the file ${file.digest} in ${folder}`, await faultOfStoredFile(files, file.digest))
      update(++verified)
    }
  })
}

function requireIntact(description: string, fault: string | undefined): void {
  if (fault === undefined) return
  throw new OperationFailure(`The backup is damaged: ${description} ${fault}. Nothing was changed; use another backup`)
}
