import { accountDecider } from '../../domain/account/account.ts'
import { isUndecodable } from '../../events/decode.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { PersonRow, Persons } from '../../stores/ports/persons.ts'
import { load } from '../../events/load.ts'
import { accountStream } from './accounts.ts'

/** A log, and the persons of its accounts. */
export type Peopled = { readonly store: Pick<EventStore, 'read'>; readonly persons: Persons }

/**
 * Whether the log has the account, and has not forgotten who it was. What can't be understood here is left to a release
 * that does.
 */
export async function hasPerson({ store }: Pick<Peopled, 'store'>, account: number): Promise<boolean> {
  try {
    const { state } = await load(store, accountStream(account), accountDecider)
    return state.status !== 'unknown' && state.status !== 'forgotten'
  } catch (error) {
    if (isUndecodable(error)) return true
    throw error
  }
}

/** Puts in the rows of whom the target's log knows, where they are not there. Nobody comes back who was forgotten there. */
export async function carryPersons(
  rows: AsyncIterable<PersonRow> | Iterable<PersonRow>,
  target: Peopled,
): Promise<number> {
  let carried = 0
  for await (const row of rows) {
    if (!(await hasPerson(target, row.account))) continue
    await target.persons.putBack(row)
    carried++
  }
  return carried
}

/** Whose rows there are although the log does not know them, or has forgotten them. */
export async function strangersIn(peopled: Peopled): Promise<readonly number[]> {
  const strangers: number[] = []
  for await (const { account } of peopled.persons.all()) {
    if (!(await hasPerson(peopled, account))) strangers.push(account)
  }
  return strangers
}
