import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { RecordedEvent } from './log.ts'

/** Converts between the protocol's messages and the types of the log. */

export const nameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? new Uint8Array()).toString('utf8')

export function identifierOf(stream: string): StreamIdentifier {
  const identifier = new sharedPb.StreamIdentifier()
  identifier.setStreamName(new Uint8Array(Buffer.from(stream, 'utf8')))
  return identifier
}

/** Reads an id, which clients send as text. */
export const idOf = (uuid: UUID | undefined): string => uuid?.getString().toLowerCase() ?? ''

export function uuidOf(id: string): UUID {
  const uuid = new sharedPb.UUID()
  uuid.setString(id)
  return uuid
}

export function eventMessage(event: RecordedEvent): ReadResp {
  const position = String(event.position)
  const recorded = new streamsPb.ReadResp.ReadEvent.RecordedEvent()
  recorded.setId(uuidOf(event.id))
  recorded.setStreamIdentifier(identifierOf(event.stream))
  recorded.setStreamRevision(String(event.revision))
  recorded.setCommitPosition(position)
  recorded.setPreparePosition(position)
  recorded.getMetadataMap().set('type', event.type)
  recorded.getMetadataMap().set('content-type', event.contentType)
  recorded.getMetadataMap().set('created', event.created)
  recorded.setData(event.data)
  recorded.setCustomMetadata(event.metadata)
  const read = new streamsPb.ReadResp.ReadEvent()
  read.setEvent(recorded)
  read.setCommitPosition(position)
  const message = new streamsPb.ReadResp()
  message.setEvent(read)
  return message
}

export function confirmationMessage(id: string): ReadResp {
  const confirmation = new streamsPb.ReadResp.SubscriptionConfirmation()
  confirmation.setSubscriptionId(id)
  const message = new streamsPb.ReadResp()
  message.setConfirmation(confirmation)
  return message
}

/** Checkpoints have prepare position 0 during catch-up. */
export function checkpointMessage(position: bigint, live: boolean): ReadResp {
  const checkpoint = new streamsPb.ReadResp.Checkpoint()
  checkpoint.setCommitPosition(String(position))
  checkpoint.setPreparePosition(live ? String(position) : '0')
  const message = new streamsPb.ReadResp()
  message.setCheckpoint(checkpoint)
  return message
}

export function caughtUpMessage(): ReadResp {
  const message = new streamsPb.ReadResp()
  message.setCaughtUp(new streamsPb.ReadResp.CaughtUp())
  return message
}

export function notFoundMessage(stream: string): ReadResp {
  const notFound = new streamsPb.ReadResp.StreamNotFound()
  notFound.setStreamIdentifier(identifierOf(stream))
  const message = new streamsPb.ReadResp()
  message.setStreamNotFound(notFound)
  return message
}
