import type { ResolvedEvent } from '@eventstore/db-client'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { checkAppend, serializeData, serializeMetadata } from '../log/event-serialization.ts'
import {
  StoreMisconfigured,
  type Append,
  type NewEvent,
  type Position,
  type StoredEvent,
} from '../ports/event-store.ts'
import { OLDEST_SERVER, STORE } from './failure.ts'

/** Bytes of one append, over all its events: the server's default MaxAppendSize. */
const MAX_APPEND_BYTES = 1_048_576

/** Events of one append, up to MAX_APPEND_BYTES, ready to be sent at any revision. */
export type AppendChunk = {
  readonly messages: readonly BatchAppendReq.ProposedMessage[]
  readonly ids: readonly string[]
  readonly types: readonly string[]
}

/**
 * Validates and encodes an append, split into chunks that fit into one append each. Validation is required here: in the
 * client, an id that is not a UUID ends the process, and data without a JSON text leaves the append pending forever.
 * @throws TypeError before anything is sent
 */
export function encodeAppend({ stream, events }: Pick<Append, 'stream' | 'events'>): AppendChunk[] {
  checkAppend(stream, events)
  const chunks: { messages: BatchAppendReq.ProposedMessage[]; ids: string[]; types: string[]; bytes: number }[] = []
  // The events of a bulk share one metadata object, which is serialized once.
  let sharedMetadata: { readonly metadata: NewEvent['metadata']; readonly bytes: Buffer } | undefined
  for (const event of events) {
    const data = Buffer.from(serializeData(event), 'utf8')
    if (sharedMetadata?.metadata !== event.metadata) {
      sharedMetadata = { metadata: event.metadata, bytes: Buffer.from(serializeMetadata(event), 'utf8') }
    }
    const bytes = data.length + sharedMetadata.bytes.length + 2 * event.type.length
    if (bytes > MAX_APPEND_BYTES)
      throw new TypeError(
        `${event.type} must have at most ${MAX_APPEND_BYTES} bytes (EventStoreDB's limit per append), got ${bytes}`,
      )
    let chunk = chunks.at(-1)
    if (chunk === undefined || chunk.bytes + bytes > MAX_APPEND_BYTES) {
      chunks.push((chunk = { messages: [], ids: [], types: [], bytes: 0 }))
    }
    chunk.messages.push(toProposedMessage(event, data, sharedMetadata.bytes))
    chunk.ids.push(event.id.toLowerCase())
    chunk.types.push(event.type)
    chunk.bytes += bytes
  }
  return chunks
}

function toProposedMessage({ id, type }: NewEvent, data: Buffer, metadata: Buffer): BatchAppendReq.ProposedMessage {
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
 * Converts an event. Undefined for the server's own streams, whose names start with `$`, and for links to deleted
 * events. Data or metadata of another application's event that is not an object becomes {}.
 * @throws StoreMisconfigured for an event without a position
 */
export function toStoredEvent({ event }: ResolvedEvent): StoredEvent | undefined {
  if (event === undefined || event.streamId.startsWith('$')) return undefined
  const { id, type, data, metadata, streamId, revision, position } = event
  if (position === undefined || position.commit === NO_POSITION) {
    const reason = `it returned no position of ${revision}@${streamId}`
    throw new StoreMisconfigured(`${STORE}: ${OLDEST_SERVER}: ${reason}`, { store: STORE })
  }
  return {
    id,
    type,
    data: isObject(data) ? data : {},
    metadata: isObject(metadata) ? (metadata as NewEvent['metadata']) : {},
    stream: streamId,
    revision,
    position,
  }
}

/** The position of an event read from $all, including the server's own events. */
export const positionOf = ({ event, commitPosition = 0n }: ResolvedEvent): Position =>
  event?.position ?? { commit: commitPosition, prepare: commitPosition }

/** What servers before 22.6 return for events read from a stream: https://github.com/kurrent-io/KurrentDB/pull/3459 */
const NO_POSITION = (1n << 64n) - 1n

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
