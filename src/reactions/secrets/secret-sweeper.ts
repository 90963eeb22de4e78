import { expireSecret, loadSecret, resealVault, type SecretCommandContext } from '../../commands/secrets/secrets.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import { secretFold, type Secret } from '../../domain/secret/secret.ts'
import { isDecodeError } from '../../events/decode.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import { isCheckpointOfLog } from '../../projections/engine/checkpoint.ts'
import { defineScheduledJob, type ScheduledJob } from '../../projections/engine/loop.ts'
import { defineReaction } from '../../projections/engine/reaction.ts'
import { settlesWithin } from '../../runtime/deadline.ts'
import type { AppLogger } from '../../runtime/logger.ts'
import { LogClosed, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { EndedVaultSecret, Vault } from '../../stores/ports/vault.ts'
import { mailDelivery } from '../mail/mailer.ts'

/** Milliseconds between two saved checkpoints while there is nothing to delete. */
const CHECKPOINT_INTERVAL_MS = 5_000

export type SecretEndingTools = {
  readonly store: EventStore
  readonly vault: Vault
  /** Starts the next round of a scheduled job now. */
  readonly wake: (routine: string) => void
  /** Withdraws the mails with links to these secrets, by digest. */
  readonly withdraw: (digests: readonly string[]) => Promise<void>
}

/**
 * Deletes revealed, burned and expired secrets from the vault, and makes the owner's notice due. Its checkpoint is
 * stored in the vault; if it belongs to another log or to one restored to an earlier state, all endings are handled
 * again. Idempotent, so several processes may run it concurrently.
 */
export const secretEndings = defineReaction<SecretEndingTools>({
  name: 'secret-endings',
  streamPrefixes: SECRET_STREAMS.prefixes,
  eventTypes: ['SecretShared', 'SecretRevealed', 'SecretBurned', 'SecretExpired'],
  createSelfCheckpointedHandler({ store, vault, wake, withdraw }) {
    let savedAt = 0
    return {
      async loadCheckpoint() {
        const last = await vault.checkpoint()
        return last !== undefined && (await isCheckpointOfLog(store, last)) ? last : { position: 'start', event: null }
      },
      async handleBatch(events, checkpoint) {
        const ended = events.flatMap(secretEndingsOf)
        if (ended.length > 0 || performance.now() - savedAt >= CHECKPOINT_INTERVAL_MS) {
          if (ended.length > 0) await withdraw(ended.map(({ digest }) => digest))
          await vault.end(ended, await checkpoint())
          savedAt = performance.now()
        }
        if (events.some(({ type }) => MAIL_TRIGGERS.has(type))) wake(mailDelivery.name)
      },
    }
  },
})

const MAIL_TRIGGERS: ReadonlySet<string> = new Set(['SecretShared', 'SecretRevealed'])

/** Reads only types and times, so that events of newer releases delete secrets too. */
function secretEndingsOf({ type, stream, metadata }: StoredEvent): EndedVaultSecret[] {
  const digest = digestOfStream(stream)
  if (type === 'SecretRevealed') return [{ digest, noticeAt: eventTimeOf({ metadata }) }]
  return type === 'SecretBurned' || type === 'SecretExpired' ? [{ digest }] : []
}

/** Milliseconds between two rounds: a bound for how long expired values stay in the vault. */
const SWEEP_INTERVAL_MS = 1_000
/** Milliseconds between two attempts to erase deleted data from the files; other users of the files may prevent one. */
const SHRED_INTERVAL_MS = 5_000
/** Milliseconds after which an entry without a stream belongs to a failed share. */
const ORPHAN_AGE_MS = 10 * 60_000
const RECEIPT_CLEANUP_INTERVAL_MS = 60_000
/** Milliseconds within which deleted data must be erased from the disk. */
const SHRED_DEADLINE_MS = 60_000
/** Milliseconds that a stop waits for the last erasure. */
const SHUTDOWN_SHRED_TIMEOUT_MS = 2_000
/** Secrets handled in one batch. */
const BATCH_SIZE = 200

export type SecretSweeperTools = {
  readonly secrets: SecretCommandContext
  /** Whether the clock may be relied on for what cannot be undone (steady-clock.ts). */
  readonly isClockSettled: () => boolean
  readonly log: AppLogger
}

/** Expires secrets, once the clock is settled. Several processes may run it concurrently. */
const expire = defineScheduledJob<SecretSweeperTools>({
  name: 'secrets-expiring',
  intervalMs: SWEEP_INTERVAL_MS,
  createRound:
    ({ secrets, isClockSettled, log }) =>
    async (signal) => {
      if (!isClockSettled()) return
      await inBatches(
        () => secrets.vault.expired(secrets.clock(), BATCH_SIZE),
        (digests) => endAll(secrets, log, digests),
        signal,
      )
    },
})

/** Removes entries and mails that a crash left without a stream. */
const removeOrphans = defineScheduledJob<SecretSweeperTools>({
  name: 'secrets-orphaned',
  intervalMs: SWEEP_INTERVAL_MS,
  createRound:
    ({ secrets, isClockSettled }) =>
    async (signal) => {
      if (!isClockSettled()) return
      await inBatches(
        () => secrets.vault.unconfirmed(secrets.clock() - ORPHAN_AGE_MS, BATCH_SIZE),
        (digests) => reconcileOrphans(secrets, digests),
        signal,
      )
    },
})

const forgetReceipts = defineScheduledJob<SecretSweeperTools>({
  name: 'receipts-forgetting',
  intervalMs: RECEIPT_CLEANUP_INTERVAL_MS,
  createRound:
    ({ secrets, isClockSettled }) =>
    async () => {
      if (isClockSettled()) await secrets.vault.deleteExpiredReceipts(secrets.clock())
    },
})

/**
 * Erases deleted bytes from the vault's files, independently of the log and of any single secret. A round fails if
 * other users of the file have prevented it for longer than the deadline.
 */
const shred = defineScheduledJob<SecretSweeperTools>({
  name: 'vault-shredding',
  intervalMs: SHRED_INTERVAL_MS,
  createRound({ secrets }) {
    let shreddedAt = performance.now()
    return async () => {
      if (await secrets.vault.shred()) shreddedAt = performance.now()
      else if (performance.now() - shreddedAt > SHRED_DEADLINE_MS)
        throw new Error(`the vault could not be shredded for ${SHRED_DEADLINE_MS} ms: other connections use its file`)
    }
  },
  async onStop({ secrets, log }) {
    const last = secrets.vault.shred()
    last.catch((error: unknown) => log.warn({ err: error }, 'the vault was not shredded when the service stopped'))
    await settlesWithin(last, SHUTDOWN_SHRED_TIMEOUT_MS)
  },
})

/** Independent jobs: a failure of one does not stop the others. */
export const SECRET_SWEEPER_JOBS: readonly ScheduledJob<SecretSweeperTools>[] = [
  expire,
  removeOrphans,
  forgetReceipts,
  shred,
]

/** Deletes an expired entry even if its share was never recorded. */
async function endAll(secrets: SecretCommandContext, log: AppLogger, digests: readonly string[]): Promise<void> {
  const ended = await Promise.all(digests.map((digest) => tryExpireSecret(secrets, log, digest)))
  await secrets.vault.end(
    digests.map((digest, index) => toVaultEnding(digest, ended[index] ?? secretFold.initialState)),
  )
}

/** If the log can't be decoded or is closed, the entry is deleted without a recorded expiry. */
async function tryExpireSecret(secrets: SecretCommandContext, log: AppLogger, digest: string): Promise<Secret> {
  try {
    return await expireSecret(secrets, digest)
  } catch (error) {
    if (!isDecodeError(error) && !(error instanceof LogClosed)) throw error
    log.warn({ err: error, secret: digest }, 'an expired secret was deleted, but its expiry could not be recorded')
    return secretFold.initialState
  }
}

async function reconcileOrphans({ vault, store }: SecretCommandContext, digests: readonly string[]): Promise<void> {
  const entries = await Promise.all(
    digests.map(async (digest) => ({ digest, secret: await tryLoadSecret(store, digest) })),
  )
  const waiting = entries.filter(({ secret }) => isWaiting(secret)).map(({ digest }) => digest)
  const ended = entries.filter((one): one is EndedSecret => !isWaiting(one.secret))
  if (ended.length > 0) await vault.end(ended.map(({ digest, secret }) => toVaultEnding(digest, secret)))
  // Confirmed too: the notice of a revealed secret may still wait for the mail server.
  const revealed = ended.filter(({ secret }) => secret.status === 'received').map(({ digest }) => digest)
  if (waiting.length + revealed.length > 0) await vault.confirm([...waiting, ...revealed])
}

/** @returns 'not understood' for a recorded secret that can't be decoded */
async function tryLoadSecret(store: EventStore, digest: string): Promise<Secret | UndecodableSecret> {
  try {
    return await loadSecret(store, digest)
  } catch (error) {
    if (isDecodeError(error)) return UNDECODABLE
    throw error
  }
}

const UNDECODABLE = 'not understood'
type UndecodableSecret = typeof UNDECODABLE
type EndedSecret = { readonly digest: string; readonly secret: Secret }

const isWaiting = (secret: Secret | UndecodableSecret) => secret === UNDECODABLE || secret.status === 'new'

/** Repeats until no batch is left; handled secrets no longer match the query. */
async function inBatches(
  nextBatch: () => Promise<string[]>,
  handleBatch: (digests: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (
    let digests = await nextBatch();
    digests.length > 0;
    digests = digests.length < BATCH_SIZE ? [] : await nextBatch()
  ) {
    await handleBatch(digests)
    signal.throwIfAborted()
  }
}

function toVaultEnding(digest: string, secret: Secret): EndedVaultSecret {
  return secret.status === 'received' ? { digest, noticeAt: secret.changedAt } : { digest }
}

/** Milliseconds until an unavailable vault is tried again. */
const RESEAL_RETRY_MS = 5_000

export type VaultResealingTools = { readonly vault: Vault; readonly keys: MasterKeys; readonly log: AppLogger }

/** Seals the vault with the new master key, once; retried while the vault is unavailable. Until then both keys work. */
export const vaultResealing = defineScheduledJob<VaultResealingTools>({
  name: 'resealing',
  intervalMs: RESEAL_RETRY_MS,
  createRound:
    ({ vault, keys, log }) =>
    async () => {
      if (keys.old !== undefined)
        log.info(await resealVault(vault, keys), 'the vault was sealed with the new master key')
      return 'done'
    },
})
