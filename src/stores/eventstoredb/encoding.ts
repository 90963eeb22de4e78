import type { ResolvedEvent } from '@eventstore/db-client'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { checkAppend, serializeData, serializeMetadata } from '../log/event-serialization.ts'
import type { Append, NewEvent, Position, StoredEvent } from '../ports/event-store.ts'

/** Bytes of one append, over all its events: the server's default MaxAppendSize. */
const MAX_APPEND = 1_048_576

/** An append of at most so many bytes, ready to be sent at any revision. */
export type AppendChunk = {
  readonly messages: readonly BatchAppendReq.ProposedMessage[]
  readonly ids: readonly string[]
  readonly types: readonly string[]
}

/**
 * What the server or its client would not take is refused here: an id that is no UUID ends the process inside the
 * client, data without JSON leaves its append pending for ever. Events are divided into runs that one append can carry.
 * @throws TypeError naming what is wrong, before anything is sent
 */
export function encodeAppend({ stream, events }: Pick<Append, 'stream' | 'events'>): AppendChunk[] {
  checkAppend(stream, events)
  const runs: { messages: BatchAppendReq.ProposedMessage[]; ids: string[]; types: string[]; bytes: number }[] = []
  // The events of a bulk share one metadata object: it is turned into bytes once.
  let shared: { readonly metadata: NewEvent['metadata']; readonly bytes: Buffer } | undefined
  for (const event of events) {
    const data = Buffer.from(serializeData(event), 'utf8')
    if (shared?.metadata !== event.metadata) {
      shared = { metadata: event.metadata, bytes: Buffer.from(serializeMetadata(event), 'utf8') }
    }
    const bytes = data.length + shared.bytes.length + 2 * event.type.length
    if (bytes > MAX_APPEND)
      throw new TypeError(`${event.type} has ${bytes} bytes, EventStoreDB takes ${MAX_APPEND} in one append`)
    let run = runs.at(-1)
    if (run === undefined || run.bytes + bytes > MAX_APPEND) {
      runs.push((run = { messages: [], ids: [], types: [], bytes: 0 }))
    }
    run.messages.push(proposed(event, data, shared.bytes))
    run.ids.push(event.id.toLowerCase())
    run.types.push(event.type)
    run.bytes += bytes
  }
  return runs
}

function proposed({ id, type }: NewEvent, data: Buffer, metadata: Buffer): BatchAppendReq.ProposedMessage {
  const uuid = new sharedPb.UUID()
  uuid.setString(id.toLowerCase())
  const message = new streamsPb.BatchAppendReq.ProposedMessage()
  message.setId(uuid)
  message.getMetadataMap().set('type', type)
  message.getMetadataMap().set('content-type', 'application/json')
  message.setData(data)
  message.setCustomMetadata(metadata)
  return message
}

/**
 * An event as the port has it; undefined for what is none of ours: the server's own streams, whose names start with `$`,
 * and links to events that are gone. Another application's event may hold anything: what is no object reads as empty.
 */
export function toStoredEvent({ event }: ResolvedEvent): StoredEvent | undefined {
  if (event === undefined || event.streamId.startsWith('$')) return undefined
  const { id, type, data, metadata, streamId, revision, position } = event
  return {
    id,
    type,
    data: isObject(data) ? data : {},
    metadata: isObject(metadata) ? (metadata as NewEvent['metadata']) : {},
    stream: streamId,
    revision,
    position: position ?? MISSING_POSITION,
  }
}

/** Where an event stands that was read with all others, whosever it is. */
export const positionOf = ({ event, commitPosition = 0n }: ResolvedEvent): Position =>
  event?.position ?? { commit: commitPosition, prepare: commitPosition }

/** Where a server before 22.6 has read one stream only: it does not tell positions there, but gives the greatest number. */
export const isPositionMissing = ({ commit }: Position): boolean => commit >= 1n << 63n

const MISSING_POSITION: Position = { commit: (1n << 64n) - 1n, prepare: (1n << 64n) - 1n }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
