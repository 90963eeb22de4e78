import { hasPerson } from '../../commands/accounts/accounts.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { PersonRow, Persons } from '../../stores/ports/persons.ts'

/** A log, and the persons of its accounts. */
export type Peopled = { readonly store: Pick<EventStore, 'read'>; readonly persons: Persons }

/** Puts in the rows of whom the target's log knows, where they are not there. Nobody comes back who was forgotten there. */
export async function copyPersons(
  rows: AsyncIterable<PersonRow> | Iterable<PersonRow>,
  target: Peopled,
): Promise<void> {
  for await (const row of rows) if (await hasPerson(target.store, row.account)) await target.persons.putBack(row)
}

/** Whose rows there are although the log does not know them, or has forgotten them. */
export async function strangersIn(peopled: Peopled): Promise<readonly number[]> {
  const strangers: number[] = []
  for await (const { account } of peopled.persons.all()) {
    if (!(await hasPerson(peopled.store, account))) strangers.push(account)
  }
  return strangers
}
