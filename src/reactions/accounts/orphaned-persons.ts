import { hasPerson } from '../../commands/accounts/accounts.ts'
import { defineScheduledJob } from '../../projections/engine/loop.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { PersonStore } from '../../stores/ports/person-store.ts'
import type { CommandContext } from '../../commands/core/command-context.ts'

const INTERVAL_MS = 60_000
/** Milliseconds after which a row without an account belongs to a failed registration. */
const ORPHAN_AGE_MS = 60 * 60_000
const BATCH_SIZE = 200

export type OrphanedPersonTools = {
  readonly store: EventStore
  readonly persons: PersonStore
  readonly context: Pick<CommandContext, 'clock'>
  /** Whether the clock may be relied on for what cannot be undone (steady-clock.ts). */
  readonly isClockSettled: () => boolean
}

/**
 * Deletes the personal data of registrations that failed before their account was in the log, and of forgotten
 * accounts.
 */
export const deleteOrphanedPersons = defineScheduledJob<OrphanedPersonTools>({
  name: 'persons-orphaned',
  intervalMs: INTERVAL_MS,
  createRound:
    ({ store, persons, context, isClockSettled }) =>
    async (signal) => {
      while (!signal.aborted && isClockSettled()) {
        const accounts = await persons.unconfirmed(context.clock() - ORPHAN_AGE_MS, BATCH_SIZE)
        const registered: number[] = []
        const orphaned: number[] = []
        for (const account of accounts) ((await hasPerson(store, account)) ? registered : orphaned).push(account)
        if (orphaned.length > 0) await persons.forget(orphaned)
        if (registered.length > 0) await persons.confirm(registered)
        if (accounts.length < BATCH_SIZE) return
      }
    },
})
