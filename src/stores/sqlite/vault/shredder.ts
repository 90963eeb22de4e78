import type { WalThread } from '../wal.ts'
import type { VaultFile } from './vault-file.ts'

/** Empties the WAL, where deleted bytes live on: the event loop does not wait. */
export class Shredder {
  #running: Promise<boolean> | undefined

  constructor(
    private readonly file: Pick<VaultFile, 'path' | 'changed'>,
    private readonly thread: WalThread,
  ) {}

  /**
   * @returns false when others kept it from being done
   * @throws Error when the disk did, or the thread died: the next one starts it again
   */
  async shred(): Promise<boolean> {
    if (this.#running === undefined && !this.file.changed) return true
    return (this.#running ??= this.#shred().finally(() => (this.#running = undefined)))
  }

  /** Resolves when no thread has the file open for it any more. */
  async close(): Promise<void> {
    // Whoever asked for it was told.
    await this.#running?.catch(() => false)
  }

  async #shred(): Promise<boolean> {
    this.file.changed = false
    let isDone = false
    try {
      const { busy, failure } = await this.thread.run({ file: this.file.path, mode: 'empty' })
      if (failure !== '') throw new Error(`the vault was not shredded: ${failure}`)
      isDone = !busy
    } finally {
      if (!isDone) this.file.changed = true
    }
    return isDone
  }
}
