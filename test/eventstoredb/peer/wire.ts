import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js'
import type { Recorded } from './log.ts'

/** What the messages of the protocol are made of, to and from the log's own shapes. */

export const nameOf = (identifier: StreamIdentifier | undefined): string =>
  Buffer.from(identifier?.getStreamName_asU8() ?? new Uint8Array()).toString('utf8')

export function identifierOf(stream: string): StreamIdentifier {
  const identifier = new sharedPb.StreamIdentifier()
  identifier.setStreamName(new Uint8Array(Buffer.from(stream, 'utf8')))
  return identifier
}

/** Clients send ids as text. */
export const idOf = (uuid: UUID | undefined): string => uuid?.getString().toLowerCase() ?? ''

export function uuidOf(id: string): UUID {
  const uuid = new sharedPb.UUID()
  uuid.setString(id)
  return uuid
}

export function eventMessage(event: Recorded): ReadResp {
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

/** As before 22.6, of an event that is read by its stream: the greatest number, and no position of the read. */
export function placelessMessage(event: Recorded): ReadResp {
  const message = eventMessage(event)
  const read = message.getEvent()
  read?.getEvent()?.setCommitPosition(NO_PLACE)
  read?.getEvent()?.setPreparePosition(NO_PLACE)
  read?.setNoPosition(new emptyPb.Empty())
  return message
}

const NO_PLACE = '18446744073709551615'

export function confirmationMessage(id: string): ReadResp {
  const confirmation = new streamsPb.ReadResp.SubscriptionConfirmation()
  confirmation.setSubscriptionId(id)
  const message = new streamsPb.ReadResp()
  message.setConfirmation(confirmation)
  return message
}

/** While history is read, checkpoints have prepare position 0. */
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
