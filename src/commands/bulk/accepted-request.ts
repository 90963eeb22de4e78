import type { AcceptedChange, RequestAccepted } from '../../domain/bulk/request.ts'
import type { Append, NewEvent, StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import type { Request } from './carry-out.ts'
import { eventId } from '../../events/event-id.ts'
import { FIRST_SCHEMA } from '../../events/origin.ts'
import { versioned, withSchema } from '../core/stamp.ts'

/** Characters of one part's changes, well within the mebibyte that an event of EventStoreDB may have. */
const PART = 250_000

/** The events that say what a request is going to write. */
export function partsOf({ stream, expected, body, diamonds, appends, metadata }: Request): NewEvent[] {
  const parts = divided(appends.map(changeOf))
  return parts.map((changes, index) => {
    const data: RequestAccepted['data'] = { body, diamonds, part: index + 1, parts: parts.length, changes }
    // Another try of the same request has other changes: it must not be taken for this one.
    const id = eventId(`${stream}/${expected}/${appends[0]?.events[0]?.id}`, index)
    return { id, type: 'RequestAccepted', data, metadata: versioned(metadata, 'RequestAccepted') }
  })
}

export type Accepted = { readonly request: Omit<Request, 'stream' | 'expected'>; readonly revision: bigint }

/** What a request's stream says is accepted and not done, and its revision; undefined when there is nothing like that. */
export function acceptedChanges(events: readonly StoredEvent[]): Accepted | undefined {
  const last = events.at(-1)
  if (last?.type !== 'RequestAccepted') return undefined
  const { parts } = decode<RequestAccepted>(last).data
  const datas = events.slice(-parts).map((event) => decode<RequestAccepted>(event).data)
  if (datas.length < parts || datas.some(({ part }, index) => part !== index + 1)) return undefined
  const { metadata, revision } = last
  const { body = '', diamonds = [] } = datas[0] ?? {}
  const appends = datas.flatMap(({ changes }) => changes.map((change) => appendOf(change, metadata)))
  return { request: { body, diamonds, appends, metadata }, revision }
}

const changeOf = ({ stream, expected, events }: Append): AcceptedChange => ({
  stream,
  expected: expected === 'none' ? null : Number(expected),
  events: events.map(({ id, type, data, metadata }) => ({
    id,
    type,
    schema: metadata['schema'] ?? FIRST_SCHEMA,
    data,
  })),
})

const appendOf = ({ stream, expected, events }: AcceptedChange, metadata: NewEvent['metadata']): Append => ({
  stream,
  expected: expected === null ? 'none' : BigInt(expected),
  events: events.map(({ id, type, schema, data }) => ({
    id,
    type,
    data,
    metadata: withSchema(metadata, schema ?? FIRST_SCHEMA),
  })),
})

function divided(changes: readonly AcceptedChange[]): AcceptedChange[][] {
  const parts: AcceptedChange[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const change of changes) {
    const more = JSON.stringify(change).length
    if (length + more > PART) {
      parts.push([])
      length = 0
    }
    parts.at(-1)?.push(change)
    length += more
  }
  return parts
}
