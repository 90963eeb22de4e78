import { expireSecret, loadSecret, resealVault, type SecretCommandContext } from '../../commands/secrets/secrets.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import { secretDecider, type Secret } from '../../domain/secret/secret.ts'
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

/** Without anything to delete, the checkpoint is saved after so many milliseconds only. */
const CHECKPOINT_INTERVAL_MS = 5_000

export type SecretEndingTools = {
  readonly store: EventStore
  readonly vault: Vault
  /** Lets a routine do its next round now. */
  readonly wake: (routine: string) => void
  /** Takes back the mails that carry the links of these secrets, by digest. */
  readonly withdraw: (digests: readonly string[]) => Promise<void>
}

/**
 * Deletes from the vault what the log says has been read, burned or expired, and lets the owner's notice fall due. Its
 * checkpoint is in the vault itself: of another log, or of one that was restored to before it, that is worth nothing, and
 * all endings are gone through again. Several processes may do it at once: what is done twice changes nothing.
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

/** Looks at names and times only, so that an event of a newer release still deletes. */
function secretEndingsOf({ type, stream, metadata }: StoredEvent): EndedVaultSecret[] {
  const digest = digestOfStream(stream)
  if (type === 'SecretRevealed') return [{ digest, noticeAt: eventTimeOf({ metadata }) }]
  return type === 'SecretBurned' || type === 'SecretExpired' ? [{ digest }] : []
}

/** Milliseconds between two rounds: expired values lie in the vault no longer than that. */
const SWEEP_INTERVAL_MS = 1_000
/** Milliseconds between two times that what was deleted is removed from the files as well: others may keep some from it. */
const SHRED_INTERVAL_MS = 5_000
/** Milliseconds after which an entry without a stream is one whose share has failed. */
const ORPHAN_AGE_MS = 10 * 60_000
const RECEIPT_CLEANUP_INTERVAL_MS = 60_000
/** Milliseconds within which what was deleted must be gone from the disk. */
const SHRED_DEADLINE_MS = 60_000
/** Milliseconds that a stop waits for the last shredding. */
const SHUTDOWN_SHRED_TIMEOUT_MS = 2_000
/** So many are looked at together. */
const BATCH_SIZE = 200

/** What the sweeping of secrets works with. */
export type SecretSweeperTools = { readonly secrets: SecretCommandContext; readonly log: AppLogger }

/** Ends secrets whose time is over. Several processes may sweep at once. */
const expire = defineScheduledJob<SecretSweeperTools>({
  name: 'secrets-expiring',
  intervalMs: SWEEP_INTERVAL_MS,
  createRound:
    ({ secrets, log }) =>
    (signal) =>
      inBatches(
        () => secrets.vault.expired(secrets.clock(), BATCH_SIZE),
        (digests) => endAll(secrets, log, digests),
        signal,
      ),
})

/** Removes entries and mails that a crash left without a stream. */
const removeOrphans = defineScheduledJob<SecretSweeperTools>({
  name: 'secrets-orphaned',
  intervalMs: SWEEP_INTERVAL_MS,
  createRound:
    ({ secrets }) =>
    (signal) =>
      inBatches(
        () => secrets.vault.unconfirmed(secrets.clock() - ORPHAN_AGE_MS, BATCH_SIZE),
        (digests) => reconcileOrphans(secrets, digests),
        signal,
      ),
})

/** Forgets receipts past their time. */
const forgetReceipts = defineScheduledJob<SecretSweeperTools>({
  name: 'receipts-forgetting',
  intervalMs: RECEIPT_CLEANUP_INTERVAL_MS,
  createRound:
    ({ secrets }) =>
    () =>
      secrets.vault.deleteExpiredReceipts(secrets.clock()),
})

/**
 * Removes deleted bytes from the vault's files. Neither the log nor any secret can keep it from that: what is gone from the
 * vault must be gone from the disk. A round fails where others have kept it from being done for too long.
 */
const shred = defineScheduledJob<SecretSweeperTools>({
  name: 'vault-shredding',
  intervalMs: SHRED_INTERVAL_MS,
  createRound({ secrets }) {
    let shreddedAt = performance.now()
    return async () => {
      if (await secrets.vault.shred()) shreddedAt = performance.now()
      else if (performance.now() - shreddedAt > SHRED_DEADLINE_MS)
        throw new Error(`others use the vault's file for ${SHRED_DEADLINE_MS} ms`)
    }
  },
  async onStop({ secrets, log }) {
    const last = secrets.vault.shred()
    last.catch((error: unknown) => log.warn({ err: error }, 'the vault was not shredded when the service stopped'))
    await settlesWithin(last, SHUTDOWN_SHRED_TIMEOUT_MS)
  },
})

/** Ends what nobody has ended. What fails in one keeps nothing in the others from being done. */
export const SECRET_SWEEPER_JOBS: readonly ScheduledJob<SecretSweeperTools>[] = [
  expire,
  removeOrphans,
  forgetReceipts,
  shred,
]

/** An entry past its time goes even where its share was never recorded. */
async function endAll(secrets: SecretCommandContext, log: AppLogger, digests: readonly string[]): Promise<void> {
  const ended = await Promise.all(digests.map((digest) => tryExpireSecret(secrets, log, digest)))
  await secrets.vault.end(
    digests.map((digest, index) => toVaultEnding(digest, ended[index] ?? secretDecider.initialState)),
  )
}

/** Where the log can't be understood, or was left, nothing is recorded, and nothing of others waits for it. */
async function tryExpireSecret(secrets: SecretCommandContext, log: AppLogger, digest: string): Promise<Secret> {
  try {
    return await expireSecret(secrets, digest)
  } catch (error) {
    if (!isDecodeError(error) && !(error instanceof LogClosed)) throw error
    log.warn({ err: error, secret: digest }, 'a secret was deleted by its time, and its end is not on record')
    return secretDecider.initialState
  }
}

async function reconcileOrphans({ vault, store }: SecretCommandContext, digests: readonly string[]): Promise<void> {
  const found = await Promise.all(
    digests.map(async (digest) => ({ digest, secret: await tryLoadSecret(store, digest) })),
  )
  const waiting = found.filter(({ secret }) => isWaiting(secret)).map(({ digest }) => digest)
  const over = found.filter((one): one is EndedSecret => !isWaiting(one.secret))
  if (over.length > 0) await vault.end(over.map(({ digest, secret }) => toVaultEnding(digest, secret)))
  // A notice whose secret was read waits for the mail server, not for the sweeper.
  const read = over.filter(({ secret }) => secret.status === 'received').map(({ digest }) => digest)
  if (waiting.length + read.length > 0) await vault.confirm([...waiting, ...read])
}

/** @returns 'not understood' for one that is on record, though nobody here can tell how it stands */
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

/** Until none are left: each batch is gone from what is looked for next. */
async function inBatches(
  next: () => Promise<string[]>,
  work: (digests: readonly string[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let digests = await next(); digests.length > 0; digests = digests.length < BATCH_SIZE ? [] : await next()) {
    await work(digests)
    signal.throwIfAborted()
  }
}

function toVaultEnding(digest: string, secret: Secret): EndedVaultSecret {
  return secret.status === 'received' ? { digest, noticeAt: secret.changedAt } : { digest }
}

/** Milliseconds until a vault that was away is looked at again. */
const RESEAL_RETRY_MS = 5_000

export type VaultResealingTools = { readonly vault: Vault; readonly keys: MasterKeys; readonly log: AppLogger }

/** Seals the vault with the new master key, once. Where it is away, later: until then both keys open what there is. */
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
