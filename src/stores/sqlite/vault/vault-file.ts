import Database from 'better-sqlite3'
import { statSync } from 'node:fs'
import { OutcomeUnknown, StoreUnavailable } from '../../ports/event-store.ts'
import { BUSY_DEADLINE_MS, DatabaseFile, isDamage, putAside, requireIntact } from '../database-file.ts'
import { StorageWriter, type StorageWriterOptions } from '../storage-thread.ts'
import type { WalThread } from '../wal.ts'
import { connect, VAULT_DAMAGE_REMEDY, type VaultConnection } from './connection.ts'
import type { VaultChange, VaultChanges } from './vault-writer.ts'

const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/**
 * Renames a damaged vault, so that a new one can replace it. No process may have it open.
 * @returns the new name; undefined if the vault is intact or there is none
 */
export function putDamagedVaultAside(file: string): string | undefined {
  if (!isFile(file)) return undefined
  const db = new Database(file)
  try {
    requireIntact(db, 'quick_check')
    return undefined
  } catch (error) {
    if (!isDamage(error)) throw error
  } finally {
    db.close()
  }
  return putAside(file)
}

/** Changes per write transaction at most. */
const MAX_CHANGES_PER_TRANSACTION = 250

/** The vault's file: read on the event loop, written by its storage thread. */
export class VaultFile {
  readonly #file: DatabaseFile<VaultConnection>
  readonly #writer: StorageWriter<VaultChange, unknown>
  /** True after a commit until its remains of deleted data have been shredded. */
  needsShredding = true

  constructor(
    readonly path: string,
    options: Pick<StorageWriterOptions, 'thread' | 'warn'>,
  ) {
    this.#file = new DatabaseFile(path, connect, VAULT_DAMAGE_REMEDY)
    this.#writer = new StorageWriter({
      file: { path, kind: 'vault', busyTimeoutMs: BUSY_DEADLINE_MS },
      ...options,
      countForTransaction: (waiting) => Math.min(waiting.length, MAX_CHANGES_PER_TRANSACTION),
      isLazy: ({ name }) => name === 'end',
      onCommitted: () => (this.needsShredding = true),
    })
  }

  /**
   * Resolves once the change is durable.
   * @throws StoreUnavailable if it was not made or may be lost
   */
  async change<Name extends keyof VaultChanges>(
    name: Name,
    ...values: ChangeValues<Name>
  ): Promise<ReturnType<VaultChanges[Name]>> {
    try {
      return (await this.#writer.write({ name, values })) as ReturnType<VaultChanges[Name]>
    } catch (error) {
      throw error instanceof OutcomeUnknown ? new StoreUnavailable(error.message, { cause: error }) : error
    }
  }

  /** @throws StoreUnavailable */
  read<Result>(run: (connection: VaultConnection) => Result): Result {
    return this.#file.use(run)
  }

  /** Limits the file to this many pages of 4 KiB, to simulate a full disk. */
  limitPages(pages: number): Promise<void> {
    return this.#writer.limitPages(pages)
  }

  async close(): Promise<void> {
    await this.#writer.close()
    this.#file.close()
  }
}

type ChangeValues<Name extends keyof VaultChanges> =
  Parameters<VaultChanges[Name]> extends [unknown, ...infer Values] ? Values : never

/** Truncates the WAL, which still contains deleted data, on the worker thread. */
export class Shredder {
  #running: Promise<boolean> | undefined

  constructor(
    private readonly file: Pick<VaultFile, 'path' | 'needsShredding'>,
    private readonly thread: WalThread,
  ) {}

  /**
   * @returns false if other connections prevented it
   * @throws Error if the disk failed or the thread died; the next call starts a new thread
   */
  async shred(): Promise<boolean> {
    if (this.#running === undefined && !this.file.needsShredding) return true
    return (this.#running ??= this.#shred().finally(() => (this.#running = undefined)))
  }

  /** Resolves once the thread no longer has the file open. */
  async close(): Promise<void> {
    // The caller of `shred` handles the error.
    await this.#running?.catch(() => false)
  }

  async #shred(): Promise<boolean> {
    this.file.needsShredding = false
    let isDone = false
    try {
      const { isBusy, failure } = await this.thread.run({ file: this.file.path, mode: 'truncate' })
      if (failure !== '') throw new Error(`the vault was not shredded: ${failure}`)
      isDone = !isBusy
    } finally {
      if (!isDone) this.file.needsShredding = true
    }
    return isDone
  }
}
