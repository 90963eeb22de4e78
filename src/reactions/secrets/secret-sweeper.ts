import { expireSecret, loadSecret, resealVault, type Secrets } from '../../commands/secrets/secrets.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import { secretDecider, type Secret } from '../../domain/secret/secret.ts'
import { isUndecodable } from '../../events/decode.ts'
import { timeOf } from '../../events/origin.ts'
import { isOfLog } from '../../projections/engine/checkpoint.ts'
import { routine, type Routine } from '../../projections/engine/loop.ts'
import { reaction } from '../../projections/engine/reaction.ts'
import { endsWithin } from '../../runtime/deadline.ts'
import type { Log } from '../../runtime/log.ts'
import { LogClosed, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import type { Ended, Vault } from '../../stores/ports/vault.ts'
import { mails } from '../mail/mailer.ts'

/** Without anything to delete, the checkpoint is saved after so many milliseconds only. */
const CHECKPOINT_EVERY = 5_000

export type EndingTools = {
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
export const secretEndings = reaction<EndingTools>({
  name: 'secret-endings',
  follows: SECRET_STREAMS.prefixes,
  on: ['SecretShared', 'SecretRevealed', 'SecretBurned', 'SecretExpired'],
  keeping({ store, vault, wake, withdraw }) {
    let savedAt = 0
    return {
      async begin() {
        const last = await vault.checkpoint()
        return last !== undefined && (await isOfLog(store, last)) ? last : { position: 'start', event: null }
      },
      async take(events, checkpoint) {
        const ended = events.flatMap(endedBy)
        if (ended.length > 0 || performance.now() - savedAt >= CHECKPOINT_EVERY) {
          if (ended.length > 0) await withdraw(ended.map(({ digest }) => digest))
          await vault.end(ended, await checkpoint())
          savedAt = performance.now()
        }
        if (events.some(({ type }) => MAILED.has(type))) wake(mails.name)
      },
    }
  },
})

const MAILED: ReadonlySet<string> = new Set(['SecretShared', 'SecretRevealed'])

/** Looks at names and times only, so that an event of a newer release still deletes. */
function endedBy({ type, stream, metadata }: StoredEvent): Ended[] {
  const digest = digestOfStream(stream)
  if (type === 'SecretRevealed') return [{ digest, noticeAt: timeOf({ metadata }) }]
  return type === 'SecretBurned' || type === 'SecretExpired' ? [{ digest }] : []
}

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

/** What the sweeping of secrets works with. */
export type SweepingTools = { readonly secrets: Secrets; readonly log: Log }

/** Ends secrets whose time is over. Several processes may sweep at once. */
const expire = routine<SweepingTools>({
  name: 'secrets-expiring',
  every: ROUND,
  doing:
    ({ secrets, log }) =>
    (signal) =>
      inBatches(
        () => secrets.vault.expired(secrets.clock(), BATCH),
        (digests) => endAll(secrets, log, digests),
        signal,
      ),
})

/** Removes entries and mails that a crash left without a stream. */
const removeOrphans = routine<SweepingTools>({
  name: 'secrets-orphaned',
  every: ROUND,
  doing:
    ({ secrets }) =>
    (signal) =>
      inBatches(
        () => secrets.vault.unconfirmed(secrets.clock() - ORPHANED, BATCH),
        (digests) => checkAll(secrets, digests),
        signal,
      ),
})

/** Forgets receipts past their time. */
const forgetReceipts = routine<SweepingTools>({
  name: 'receipts-forgetting',
  every: FORGET,
  doing:
    ({ secrets }) =>
    () =>
      secrets.vault.forget(secrets.clock()),
})

/**
 * Removes deleted bytes from the vault's files. Neither the log nor any secret can keep it from that: what is gone from the
 * vault must be gone from the disk. A round fails where others have kept it from being done for too long.
 */
const shred = routine<SweepingTools>({
  name: 'vault-shredding',
  every: SHRED,
  doing({ secrets }) {
    let shreddedAt = performance.now()
    return async () => {
      if (await secrets.vault.shred()) shreddedAt = performance.now()
      else if (performance.now() - shreddedAt > SHREDDED)
        throw new Error(`others use the vault's file for ${SHREDDED} ms`)
    }
  },
  async last({ secrets, log }) {
    const last = secrets.vault.shred()
    last.catch((error: unknown) => log.warn({ err: error }, 'the vault was not shredded when the service stopped'))
    await endsWithin(last, LAST_SHRED)
  },
})

/** Ends what nobody has ended. What fails in one keeps nothing in the others from being done. */
export const SWEEPING: readonly Routine<SweepingTools>[] = [expire, removeOrphans, forgetReceipts, shred]

/** An entry past its time goes even where its share was never recorded. */
async function endAll(secrets: Secrets, log: Log, digests: readonly string[]): Promise<void> {
  const ended = await Promise.all(digests.map((digest) => expired(secrets, log, digest)))
  await secrets.vault.end(digests.map((digest, index) => endedOf(digest, ended[index] ?? secretDecider.initialState)))
}

/** Where the log can't be understood, or was left, nothing is recorded, and nothing of others waits for it. */
async function expired(secrets: Secrets, log: Log, digest: string): Promise<Secret> {
  try {
    return await expireSecret(secrets, digest)
  } catch (error) {
    if (!isUndecodable(error) && !(error instanceof LogClosed)) throw error
    log.warn({ err: error, secret: digest }, 'a secret was deleted by its time, and its end is not on record')
    return secretDecider.initialState
  }
}

async function checkAll({ vault, store }: Secrets, digests: readonly string[]): Promise<void> {
  const found = await Promise.all(digests.map(async (digest) => ({ digest, secret: await known(store, digest) })))
  const waiting = found.filter(({ secret }) => isWaiting(secret)).map(({ digest }) => digest)
  const over = found.filter((one): one is Over => !isWaiting(one.secret))
  if (over.length > 0) await vault.end(over.map(({ digest, secret }) => endedOf(digest, secret)))
  // A notice whose secret was read waits for the mail server, not for the sweeper.
  const read = over.filter(({ secret }) => secret.status === 'received').map(({ digest }) => digest)
  if (waiting.length + read.length > 0) await vault.confirm([...waiting, ...read])
}

/** @returns 'not understood' for one that is on record, though nobody here can tell how it stands */
async function known(store: EventStore, digest: string): Promise<Secret | NotUnderstood> {
  try {
    return await loadSecret(store, digest)
  } catch (error) {
    if (isUndecodable(error)) return NOT_UNDERSTOOD
    throw error
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

/** Milliseconds until a vault that was away is looked at again. */
const AGAIN = 5_000

export type ResealingTools = { readonly vault: Vault; readonly keys: MasterKeys; readonly log: Log }

/** Seals the vault with the new master key, once. Where it is away, later: until then both keys open what there is. */
export const resealing = routine<ResealingTools>({
  name: 'resealing',
  every: AGAIN,
  doing:
    ({ vault, keys, log }) =>
    async () => {
      if (keys.old !== undefined)
        log.info(await resealVault(vault, keys), 'the vault was sealed with the new master key')
      return 'done'
    },
})
