import { hasPerson } from '../../commands/accounts/accounts.ts'
import { routine } from '../../projections/engine/loop.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { Persons } from '../../stores/ports/persons.ts'
import type { Writing } from '../../commands/core/handle.ts'

/** Milliseconds between two rounds. */
const ROUND = 60_000
/** Milliseconds after which a row without an account is one whose registration has died. */
const ORPHANED = 60 * 60_000
const BATCH = 200

/** What the sweeping of persons works with. */
export type PersonSweepingTools = {
  readonly store: EventStore
  readonly persons: Persons
  readonly writing: Pick<Writing, 'clock'>
}

/** Deletes the rows of registrations that died before the log had the account, and of accounts that were forgotten. */
export const removeStrangers = routine<PersonSweepingTools>({
  name: 'persons-orphaned',
  every: ROUND,
  doing:
    ({ store, persons, writing }) =>
    async (signal) => {
      while (!signal.aborted) {
        const accounts = await persons.unconfirmed(writing.clock() - ORPHANED, BATCH)
        const known: number[] = []
        const strange: number[] = []
        for (const account of accounts) ((await hasPerson(store, account)) ? known : strange).push(account)
        if (strange.length > 0) await persons.forget(strange)
        if (known.length > 0) await persons.confirm(known)
        if (accounts.length < BATCH) return
      }
    },
})
