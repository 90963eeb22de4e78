import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { BinaryWriter } from 'google-protobuf'
import durationPb from 'google-protobuf/google/protobuf/duration_pb.js'
import type { Revision } from '../ports/event-store.ts'
import type { Encoded } from './encoding.ts'

export type AppendRequest = {
  readonly correlation: string
  readonly stream: string
  readonly expected: Revision
  readonly messages: Encoded['messages']
  /** Milliseconds that the server may take. */
  readonly deadline: number
}

/** One append, in one message of the call that carries them all. */
export function appendRequest({ correlation, stream, expected, messages, deadline }: AppendRequest): BatchAppendReq {
  const uuid = new sharedPb.UUID()
  uuid.setString(correlation)
  const identifier = new sharedPb.StreamIdentifier()
  identifier.setStreamName(Buffer.from(stream, 'utf8'))
  const options = new streamsPb.BatchAppendReq.Options()
  options.setStreamIdentifier(identifier)
  if (expected === 'none') options.setNoStream(new sharedPb.Empty())
  else options.setStreamPosition(expected.toString())
  const request = new streamsPb.BatchAppendReq()
  request.setCorrelationId(uuid)
  request.setProposedMessagesList([...messages])
  request.setIsFinal(true)
  request.serializeBinary = () => bytesOf(request, options, deadline)
  return request
}

/** Numbers of fields: `options` of the request, `deadline` of the options, as the server's streams.proto has them. */
const OPTIONS = 2
const DEADLINE = 7

/**
 * The client's messages know a deadline only as a point in time, which a server whose clock is ahead takes for passed: it
 * answers each append with a timeout. Servers from 21.10.1 on take a duration as well, which is written here.
 */
function bytesOf(request: BatchAppendReq, options: BatchAppendReq.Options, deadline: number): Uint8Array {
  const { BatchAppendReq } = streamsPb
  const writer = new BinaryWriter()
  BatchAppendReq.serializeBinaryToWriter(request, writer)
  writer.writeMessage(OPTIONS, options, (_: unknown, inner: BinaryWriter) => {
    BatchAppendReq.Options.serializeBinaryToWriter(options, inner)
    inner.writeMessage(DEADLINE, durationOf(deadline), durationPb.Duration.serializeBinaryToWriter)
  })
  return writer.getResultBuffer()
}

function durationOf(ms: number): durationPb.Duration {
  const duration = new durationPb.Duration()
  duration.setSeconds(Math.floor(ms / 1_000))
  duration.setNanos((ms % 1_000) * 1_000_000)
  return duration
}
