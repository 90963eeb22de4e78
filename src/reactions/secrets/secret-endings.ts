import { timeOf } from '../../events/origin.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import { isOfLog } from '../../projections/engine/checkpoint.ts'
import { mails } from '../mail/mailer.ts'
import { reaction } from '../../projections/engine/reaction.ts'
import type { EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import type { Ended, Vault } from '../../stores/ports/vault.ts'

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
