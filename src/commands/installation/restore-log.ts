import { readEpoch } from '../../events/lineage.ts'
import { eventId, timeOf, type Origin } from '../../events/origin.ts'
import {
  ID_KINDS,
  IDS,
  reserve,
  RESTORES_STREAM,
  type IdsReserved,
  type LogRestored,
} from '../../domain/installation/installation.ts'
import type { SecretExpired } from '../../domain/secret/secret.ts'
import { decode } from '../../events/decode.ts'
import type { Append, EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { appendAll, stamp } from '../core/append.ts'

export type Restoring = { readonly store: EventStore; readonly origin: Origin; readonly clock: () => number }

/** More ids of a kind than were given out in the lost days: clients know them, and they must not name something else. */
const SKIPPED = 1_000_000
/** Appends that are written together. */
const AT_ONCE = 500

/**
 * Begins a new epoch of a log that was set back to a backup. Waiting secrets expire, since one may have been read in the
 * days that are lost; ids go on behind those that may have been given out; LogRestored comes last. Nobody else may
 * write. A run that was interrupted is simply repeated.
 *
 * The epoch is the time in seconds since 1970, and higher than any that is known of: a counter would come out the same
 * for two restores of one backup, and what the first one's epoch gave out would be good in the second one's.
 * @param seen the highest epoch that anything beside the log knows of
 * @returns the epoch
 * @throws WrongRevision where somebody writes, StoreUnavailable
 */
export async function beginEpoch(restoring: Restoring, seen: number): Promise<number> {
  const { store, clock } = restoring
  const epoch = Math.max(Math.floor(clock() / 1000), Math.max(seen, await readEpoch(store)) + 1)
  await inParts(restoring, await expiredSecrets(restoring, epoch))
  await inParts(restoring, await skippedIds(restoring, epoch))
  const [last] = await store.read(RESTORES_STREAM, { last: 1 })
  await inParts(restoring, [behind(restoring, RESTORES_STREAM, last, epoch, { type: 'LogRestored', data: { epoch } })])
  return epoch
}

async function expiredSecrets(restoring: Restoring, epoch: number): Promise<Append[]> {
  const waiting = new Map<string, StoredEvent>()
  for await (const event of restoring.store.readAll('start', { prefixes: ['secret-'] })) {
    if (ENDS.has(event.type)) waiting.delete(event.stream)
    else if (event.type === 'SecretShared' || waiting.has(event.stream)) waiting.set(event.stream, event)
  }
  return [...waiting].map(([stream, last]) => {
    const data = { at: timeBehind(restoring, last) }
    return behind(restoring, stream, last, epoch, { type: 'SecretExpired', data })
  })
}

const ENDS: ReadonlySet<string> = new Set(['SecretRevealed', 'SecretBurned', 'SecretExpired'])

async function skippedIds(restoring: Restoring, epoch: number): Promise<Append[]> {
  const newest = new Map<string, StoredEvent | undefined>(ID_KINDS.map((kind) => [IDS + kind, undefined]))
  for await (const event of restoring.store.readAll('start', { prefixes: [IDS] })) newest.set(event.stream, event)
  return [...newest].map(([stream, last]) => {
    const skipped = reserve(last && decode<IdsReserved>(last).data, SKIPPED)
    return behind(restoring, stream, last, epoch, skipped)
  })
}

type Written = LogRestored | SecretExpired | IdsReserved

function behind(
  restoring: Restoring,
  stream: string,
  last: StoredEvent | undefined,
  epoch: number,
  { type, data }: Written,
): Append {
  const id = eventId(`${stream}/restored/${epoch}`, 0)
  const event = stamp(restoring.origin, timeBehind(restoring, last))(id, { type, data })
  return { stream, expected: last?.revision ?? 'none', events: [event] }
}

/** Time does not go back within a stream. */
const timeBehind = ({ clock }: Restoring, last: StoredEvent | undefined) => Math.max(clock(), timeOf(last))

async function inParts(restoring: Restoring, appends: readonly Append[]): Promise<void> {
  for (let from = 0; from < appends.length; from += AT_ONCE) {
    await appendAll(restoring, appends.slice(from, from + AT_ONCE))
  }
}
