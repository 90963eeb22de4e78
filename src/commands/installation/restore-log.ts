import { readEpoch } from '../../events/lineage.ts'
import { eventId, eventTimeOf, type Origin } from '../../events/event-metadata.ts'
import {
  ID_KINDS,
  ID_STREAM_PREFIX,
  reserveIds,
  RESTORES_STREAM,
  type IdsReserved,
  type LogRestored,
} from '../../domain/installation/installation.ts'
import type { SecretExpired } from '../../domain/secret/secret.ts'
import { decode } from '../../events/decode.ts'
import type { Append, EventStore, StoredEvent } from '../../stores/ports/event-store.ts'
import { appendAll, createEventFactory } from '../core/append.ts'

type RestoreLogContext = { readonly store: EventStore; readonly origin: Origin; readonly clock: () => number }

/**
 * How many ids of each kind to skip: more than can have been allocated after the backup. Clients may still know those.
 */
const SKIPPED_ID_COUNT = 1_000_000
const APPENDS_PER_BATCH = 500

/**
 * Starts a new epoch of a log that was restored from a backup. Pending secrets expire, because they may have been read
 * after the backup. Id allocation skips ids that may have been allocated since. LogRestored is appended last. No other
 * process may write. After an interruption, run it again.
 * The epoch is the time in seconds since 1970, and higher than any known epoch. With a counter, two restores of the
 * same backup would get the same epoch, and tokens issued in the first one would be valid in the second.
 * @param knownEpoch the highest epoch known outside the log
 * @returns the epoch
 * @throws WrongRevision if another process writes, StoreUnavailable
 */
export async function beginEpoch(context: RestoreLogContext, knownEpoch: number): Promise<number> {
  const { store, clock } = context
  const epoch = Math.max(Math.floor(clock() / 1000), Math.max(knownEpoch, await readEpoch(store)) + 1)
  await appendInBatches(context, await secretExpiryAppends(context, epoch))
  await appendInBatches(context, await idSkipAppends(context, epoch))
  const [last] = await store.readStream(RESTORES_STREAM, { last: 1 })
  await appendInBatches(context, [
    appendAfter(context, RESTORES_STREAM, last, epoch, { type: 'LogRestored', data: { epoch } }),
  ])
  return epoch
}

async function secretExpiryAppends(context: RestoreLogContext, epoch: number): Promise<Append[]> {
  const pendingSecrets = new Map<string, StoredEvent>()
  for await (const event of context.store.readAll('start', { prefixes: ['secret-'] })) {
    if (SECRET_END_EVENT_TYPES.has(event.type)) pendingSecrets.delete(event.stream)
    else if (event.type === 'SecretShared' || pendingSecrets.has(event.stream)) pendingSecrets.set(event.stream, event)
  }
  return [...pendingSecrets].map(([stream, last]) => {
    const data = { at: timeAfter(context, last) }
    return appendAfter(context, stream, last, epoch, { type: 'SecretExpired', data })
  })
}

const SECRET_END_EVENT_TYPES: ReadonlySet<string> = new Set(['SecretRevealed', 'SecretBurned', 'SecretExpired'])

async function idSkipAppends(context: RestoreLogContext, epoch: number): Promise<Append[]> {
  const lastReservations = new Map<string, StoredEvent | undefined>(
    ID_KINDS.map((kind) => [ID_STREAM_PREFIX + kind, undefined]),
  )
  for await (const event of context.store.readAll('start', { prefixes: [ID_STREAM_PREFIX] }))
    lastReservations.set(event.stream, event)
  return [...lastReservations].map(([stream, last]) => {
    const skipEvent = reserveIds(last && decode<IdsReserved>(last).data, SKIPPED_ID_COUNT)
    return appendAfter(context, stream, last, epoch, skipEvent)
  })
}

type RestoreEvent = LogRestored | SecretExpired | IdsReserved

function appendAfter(
  context: RestoreLogContext,
  stream: string,
  last: StoredEvent | undefined,
  epoch: number,
  { type, data }: RestoreEvent,
): Append {
  const id = eventId(`${stream}/restored/${epoch}`, 0)
  const event = createEventFactory(context.origin, timeAfter(context, last))(id, { type, data })
  return { stream, expected: last?.revision ?? 'none', events: [event] }
}

/** Keeps time from going backwards within a stream. */
const timeAfter = ({ clock }: RestoreLogContext, last: StoredEvent | undefined) => Math.max(clock(), eventTimeOf(last))

async function appendInBatches(context: RestoreLogContext, appends: readonly Append[]): Promise<void> {
  for (let from = 0; from < appends.length; from += APPENDS_PER_BATCH) {
    await appendAll(context, appends.slice(from, from + APPENDS_PER_BATCH))
  }
}
