import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import type { Log } from '../../runtime/log.ts'
import { anchored } from '../../projections/engine/belongs.ts'
import { lineOf } from '../../projections/engine/log-line.ts'
import { KeptRunning, type RunFigures } from '../../projections/engine/keep-trying.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Ended, Vault, VaultCheckpoint } from '../../stores/ports/vault.ts'

/** Without anything to delete, the checkpoint is saved after so many milliseconds only. */
const CHECKPOINT_EVERY = 5_000

export type SecretEndingsOptions = {
  readonly store: EventStore
  readonly vault: Vault
  readonly log: Log
  /** Told that a mail may have become due. */
  readonly mailDue: () => void
  /** Takes back the mails that carry the links of these secrets, by digest. */
  readonly withdraw: (digests: readonly string[]) => Promise<void>
}

/**
 * Deletes from the vault what the log says has been read, burned or expired, and lets the owner's notice fall due.
 * It has a checkpoint of its own, in the vault itself, and is no read model: no rebuild runs it again. Several processes
 * may run it at once: what it does changes nothing when it is done twice.
 */
export class SecretEndings {
  readonly #options: SecretEndingsOptions
  readonly #following: KeptRunning
  #event: VaultCheckpoint['event'] = null
  #savedAt = 0

  constructor(options: SecretEndingsOptions) {
    this.#options = options
    this.#following = new KeptRunning('secret-endings', options.log, (signal) => this.#follow(signal))
  }

  start(): void {
    this.#following.start()
  }

  stop(): Promise<void> {
    return this.#following.stop()
  }

  get figures(): RunFigures[] {
    return [this.#following.figures]
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { store, mailDue } = this.#options
    const log = await lineOf(store)
    const checkpoint = await this.#checkpointOf(log)
    this.#event = checkpoint?.event ?? null
    const subscription = store.subscribe(checkpoint?.position ?? 'start', SECRET_STREAMS)
    signal.addEventListener('abort', () => subscription.stop(), { once: true })
    try {
      signal.throwIfAborted()
      for await (const { events, position } of subscription) {
        await this.#end(events, { position, log, event: this.#eventOf(events) })
        if (events.some(({ type }) => MAILED.has(type))) mailDue()
        if (signal.aborted) return
      }
    } finally {
      subscription.stop()
    }
  }

  /** Of another log, or of one that was restored to before it, it is worth nothing: all endings are gone through again. */
  async #checkpointOf(log: string): Promise<VaultCheckpoint | undefined> {
    const checkpoint = await this.#options.vault.checkpoint()
    if (checkpoint === undefined || checkpoint.log !== log) return undefined
    const { event } = checkpoint
    if (event === null) return checkpoint
    return (await this.#options.store.eventAt(event.position))?.id === event.id ? checkpoint : undefined
  }

  async #end(events: readonly StoredEvent[], checkpoint: VaultCheckpoint): Promise<void> {
    const ended = events.flatMap(endedBy)
    if (ended.length === 0 && performance.now() - this.#savedAt < CHECKPOINT_EVERY) return
    if (ended.length > 0) await this.#options.withdraw(ended.map(({ digest }) => digest))
    await this.#options.vault.end(ended, await anchored(this.#options.store, checkpoint))
    this.#savedAt = performance.now()
  }

  #eventOf(events: readonly StoredEvent[]): VaultCheckpoint['event'] {
    const last = events.at(-1)
    if (last !== undefined) this.#event = { id: last.id, position: last.position }
    return this.#event
  }
}

const MAILED: ReadonlySet<string> = new Set(['SecretShared', 'SecretRevealed'])

/** Looks at names and times only, so that an event of a newer release still deletes. */
function endedBy({ type, stream, metadata }: StoredEvent): Ended[] {
  const digest = digestOfStream(stream)
  if (type === 'SecretRevealed') return [{ digest, noticeAt: Date.parse(metadata['at'] ?? '') || 0 }]
  return type === 'SecretBurned' || type === 'SecretExpired' ? [{ digest }] : []
}
