import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { derive } from './digests.ts'

export type MasterKey = {
  /** Identifies the key in sealed data: the first 8 bytes of its SHA-256 digest, in hex. */
  readonly id: string
  readonly bytes: Buffer
}

/** `old` only opens and verifies data from before the rotation. */
export type MasterKeys = { readonly current: MasterKey; readonly old: MasterKey | undefined }

type MasterKeyOptions = {
  readonly dataDir: string
  /** 32 bytes in base64, from the environment. If undefined, the key file in the data directory is used. */
  readonly masterKey: string | undefined
  readonly masterKeyOld: string | undefined
  /** Whether something may have been encrypted: then a missing key file is an error, otherwise it is generated. */
  readonly isInUse?: boolean
}

const FILE = 'master.key'

export class BadMasterKey extends Error {
  override readonly name = 'BadMasterKey'
}

/** @throws BadMasterKey, or the file system's error */
export function openMasterKeys({ dataDir, masterKey, masterKeyOld, isInUse = false }: MasterKeyOptions): MasterKeys {
  return {
    current: parseMasterKey(masterKey ?? readKeyFile(dataDir, isInUse), 'MASTER_KEY'),
    old: masterKeyOld === undefined ? undefined : parseMasterKey(masterKeyOld, 'MASTER_KEY_OLD'),
  }
}

/** Derives a separate key for each purpose, so that the use of one reveals nothing about another. */
export const deriveKey = (key: MasterKey, purpose: string): Buffer => derive(key.bytes, purpose)

function parseMasterKey(base64: string, setting: string): MasterKey {
  const bytes = Buffer.from(base64.trim(), 'base64')
  if (bytes.length !== 32) {
    throw new BadMasterKey(`${setting} must be 32 bytes in base64, such as the output of \`openssl rand -base64 32\``)
  }
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes }
}

/** Writes the key file unless the data directory has one. @throws the file system's error */
export function writeMasterKeyIfMissing(dataDir: string, { bytes }: MasterKey): void {
  const path = join(dataDir, FILE)
  if (readIfExists(path) === undefined) makeKeyFile(dataDir, path, bytes)
}

function readKeyFile(dataDir: string, isInUse: boolean): string {
  const path = join(dataDir, FILE)
  if (!isInUse && readIfExists(path) === undefined) makeKeyFile(dataDir, path, randomBytes(32))
  const text = readIfExists(path)
  if (text !== undefined && Buffer.from(text.trim(), 'base64').length === 32) return text
  const fault = text === undefined ? 'is missing' : 'must contain 32 bytes in base64'
  throw new BadMasterKey(
    `${resolve(path)} ${fault}: put your copy of this installation's master key there, or set MASTER_KEY to it; without ` +
      'the key, what it has encrypted is lost',
  )
}

/**
 * Writes a temporary file and links it, so that a crash leaves no partial key and, of two processes that start at the
 * same time, one succeeds and both read its key.
 */
function makeKeyFile(dataDir: string, path: string, key: Buffer): void {
  mkdirSync(dataDir, { recursive: true })
  const temporaryPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(temporaryPath, 'wx', 0o600)
  try {
    writeSync(file, `${key.toString('base64')}\n`)
    fsyncSync(file)
    linkSync(temporaryPath, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    closeSync(file)
    rmSync(temporaryPath)
  }
  syncFolder(dataDir)
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code
