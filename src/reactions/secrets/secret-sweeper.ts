import { expireSecret } from '../../commands/secrets/expire-secret.ts'
import { loadSecret, type Secrets } from '../../commands/secrets/secrets.ts'
import type { Log } from '../../runtime/log.ts'
import { endsWithin } from '../../runtime/patience.ts'
import { unknownSecret, type Secret } from '../../domain/secret/secret.ts'
import { LogClosed } from '../../stores/ports/event-store.ts'
import { isUndecodable } from '../../events/decode.ts'
import type { Ended } from '../../stores/ports/vault.ts'
import { KeptRunning, unstopped, type RunFigures } from '../../projections/engine/keep-trying.ts'

/** Milliseconds between two rounds: expired values lie in the vault no longer than that. */
const ROUND = 1_000
/** Milliseconds between two times that what was deleted is removed from the files as well: others may keep some from it. */
const SHRED = 5_000
/** Milliseconds after which an entry without a stream is one whose share has failed. */
const ORPHANED = 10 * 60_000
const FORGET = 60_000
/** Milliseconds within which what was deleted must be gone from the disk. */
const SHREDDED = 60_000
/** Milliseconds that a stop waits for the last shredding. */
const LAST_SHRED = 2_000
/** So many are looked at together. */
const BATCH = 200

/**
 * Ends what nobody has ended: secrets whose time is over, entries and mails that a crash left without a stream, receipts
 * past their time, deleted bytes in the WAL. Several processes may sweep at once.
 */
export class SecretSweeper {
  readonly #works: readonly KeptRunning[]
  #shreddedAt = performance.now()

  constructor(
    private readonly secrets: Secrets,
    private readonly log: Log,
  ) {
    this.#works = [
      new KeptRunning('secrets-expiring', log, (signal) => this.#expire(signal), { every: ROUND }),
      new KeptRunning('secrets-orphaned', log, (signal) => this.#removeOrphans(signal), { every: ROUND }),
      new KeptRunning('receipts-forgetting', log, () => this.#forget(), { every: FORGET }),
      // Neither the log nor any secret can keep this one: what is gone from the vault must be gone from the disk.
      new KeptRunning('vault-shredding', log, () => this.#shred(), { every: SHRED }),
    ]
  }

  start(): void {
    for (const work of this.#works) work.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#works.map((work) => work.stop()))
    const last = this.secrets.vault.shred()
    last.catch((error: unknown) => this.log.warn({ err: error }, 'the vault was not shredded when the service stopped'))
    await endsWithin(last, LAST_SHRED)
  }

  get figures(): RunFigures[] {
    return this.#works.map(({ figures }) => figures)
  }

  /**
   * One round of everything. What fails keeps nothing else from being done.
   * @throws the first of what failed
   */
  async sweep(): Promise<void> {
    const signal = unstopped()
    const all = [this.#expire(signal), this.#removeOrphans(signal), this.#forget()]
    const outcomes = await Promise.allSettled(all)
    await this.secrets.vault.shred()
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  #expire(signal: AbortSignal): Promise<void> {
    const { vault, clock } = this.secrets
    return inBatches(
      () => vault.expired(clock(), BATCH),
      (digests) => this.#endAll(digests),
      signal,
    )
  }

  #removeOrphans(signal: AbortSignal): Promise<void> {
    const { vault, clock } = this.secrets
    return inBatches(
      () => vault.unconfirmed(clock() - ORPHANED, BATCH),
      (digests) => this.#checkAll(digests),
      signal,
    )
  }

  /** @throws Error where others have kept it from being done for too long */
  async #shred(): Promise<void> {
    if (await this.secrets.vault.shred()) this.#shreddedAt = performance.now()
    else if (performance.now() - this.#shreddedAt > SHREDDED)
      throw new Error(`others use the vault's file for ${SHREDDED} ms`)
  }

  #forget(): Promise<void> {
    return this.secrets.vault.forget(this.secrets.clock())
  }

  /** An entry past its time goes even where its share was never recorded. */
  async #endAll(digests: readonly string[]): Promise<void> {
    const secrets = await Promise.all(digests.map((digest) => this.#expired(digest)))
    await this.secrets.vault.end(digests.map((digest, index) => endedOf(digest, secrets[index] ?? unknownSecret)))
  }

  /** Where the log can't be understood, or was left, nothing is recorded, and nothing of others waits for it. */
  async #expired(digest: string): Promise<Secret> {
    try {
      return await expireSecret(this.secrets, digest)
    } catch (error) {
      if (!isUndecodable(error) && !(error instanceof LogClosed)) throw error
      this.log.warn({ err: error, secret: digest }, 'a secret was deleted by its time, and its end is not on record')
      return unknownSecret
    }
  }

  async #checkAll(digests: readonly string[]): Promise<void> {
    const { vault } = this.secrets
    const found = await Promise.all(digests.map(async (digest) => ({ digest, secret: await this.#known(digest) })))
    const waiting = found.filter(({ secret }) => isWaiting(secret)).map(({ digest }) => digest)
    const over = found.filter((one): one is Over => !isWaiting(one.secret))
    if (over.length > 0) await vault.end(over.map(({ digest, secret }) => endedOf(digest, secret)))
    // A notice whose secret was read waits for the mail server, not for the sweeper.
    const read = over.filter(({ secret }) => secret.status === 'received').map(({ digest }) => digest)
    if (waiting.length + read.length > 0) await vault.confirm([...waiting, ...read])
  }

  /** @returns 'not understood' for one that is on record, though nobody here can tell how it stands */
  async #known(digest: string): Promise<Secret | NotUnderstood> {
    try {
      return await loadSecret(this.secrets.store, digest)
    } catch (error) {
      if (isUndecodable(error)) return NOT_UNDERSTOOD
      throw error
    }
  }
}

const NOT_UNDERSTOOD = 'not understood'
type NotUnderstood = typeof NOT_UNDERSTOOD
type Over = { readonly digest: string; readonly secret: Secret }

const isWaiting = (secret: Secret | NotUnderstood) => secret === NOT_UNDERSTOOD || secret.status === 'new'

/** Until none are left: each batch is gone from what is looked for next. */
async function inBatches(
  next: () => Promise<string[]>,
  work: (digests: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let digests = await next(); digests.length > 0; digests = digests.length < BATCH ? [] : await next()) {
    await work(digests)
    signal.throwIfAborted()
  }
}

function endedOf(digest: string, secret: Secret): Ended {
  return secret.status === 'received' ? { digest, noticeAt: secret.changedAt } : { digest }
}
