import { createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { derive } from './digests.ts'

export type MasterKey = {
  /** Names the key beside what was made with it: the first 8 bytes of its SHA-256, in hex. */
  readonly id: string
  readonly bytes: Buffer
}

/** `old` only opens and verifies what was made before the rotation. */
export type MasterKeys = { readonly current: MasterKey; readonly old: MasterKey | undefined }

export type MasterKeyOptions = {
  readonly dataDir: string
  /** 32 bytes in base64, from the environment; without it the key is in the data folder. */
  readonly masterKey: string | undefined
  readonly masterKeyOld: string | undefined
}

const FILE = 'master.key'

/** The key file can't be used. */
export class BadMasterKey extends Error {
  override readonly name = 'BadMasterKey'
}

/** @throws BadMasterKey, or the file system's error */
export function openMasterKeys({ dataDir, masterKey, masterKeyOld }: MasterKeyOptions): MasterKeys {
  return {
    current: parseMasterKey(masterKey ?? readOrMakeKeyFile(dataDir), 'MASTER_KEY'),
    old: masterKeyOld === undefined ? undefined : parseMasterKey(masterKeyOld, 'MASTER_KEY_OLD'),
  }
}

/** A key of its own for each purpose, so that what one is used for tells nothing about another. */
export const deriveKey = (key: MasterKey, purpose: string): Buffer => derive(key.bytes, purpose)

function parseMasterKey(base64: string, where: string): MasterKey {
  const bytes = Buffer.from(base64.trim(), 'base64')
  if (bytes.length !== 32) {
    throw new BadMasterKey(`${where} must be 32 bytes in base64, as \`openssl rand -base64 32\` makes them`)
  }
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes }
}

/** Gives a folder that has no master key this one. @throws the file system's error */
export function writeMasterKeyIfMissing(dataDir: string, { bytes }: MasterKey): void {
  const path = join(dataDir, FILE)
  if (readIfThere(path) === undefined) makeKeyFile(dataDir, path, bytes)
}

function readOrMakeKeyFile(dataDir: string): string {
  const path = join(dataDir, FILE)
  const found = readIfThere(path)
  if (found === undefined) makeKeyFile(dataDir, path, randomBytes(32))
  const text = found ?? readFileSync(path, 'utf8')
  if (Buffer.from(text.trim(), 'base64').length === 32) return text
  throw new BadMasterKey(`${path} must hold 32 bytes in base64; restore it from a backup, or nothing it sealed opens`)
}

/**
 * Written whole under another name, then linked: of two processes that start at once one link succeeds, both read
 * that one's key, and no crash leaves half a key behind.
 */
function makeKeyFile(dataDir: string, path: string, key: Buffer): void {
  mkdirSync(dataDir, { recursive: true })
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(draft, 'wx', 0o600)
  try {
    writeSync(file, `${key.toString('base64')}\n`)
    fsyncSync(file)
    linkSync(draft, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    closeSync(file)
    rmSync(draft)
  }
  syncFolder(dataDir)
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code
