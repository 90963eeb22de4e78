import type { ServiceDefinition } from '@grpc/grpc-js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js'
import { BinaryReader } from 'google-protobuf'
import durationPb from 'google-protobuf/google/protobuf/duration_pb.js'

/** The deadline of each append in milliseconds; the client's generated messages lack this field. */
const durations = new WeakMap<BatchAppendReq, number>()

/** Makes the service also read the field `deadline` of an append, a duration. */
export function withDurations<Service extends { readonly batchAppend: object }>(service: Service): ServiceDefinition {
  const requestDeserialize = (bytes: Buffer) => {
    const request = streamsPb.BatchAppendReq.deserializeBinary(bytes)
    const duration = durationIn(bytes)
    if (duration !== undefined) durations.set(request, duration)
    return request
  }
  return { ...service, batchAppend: { ...service.batchAppend, requestDeserialize } } as unknown as ServiceDefinition
}

/**
 * Whether the client's deadline has passed by the server's clock. The server's code:
 * https://github.com/kurrent-io/KurrentDB/blob/v23.10.6/src/EventStore.Core/Services/Transport/Grpc/Streams.BatchAppend.cs
 */
export function isPast(request: BatchAppendReq, clockAhead: number): boolean {
  const point = request.getOptions()?.getDeadline()?.toDate().getTime() ?? Infinity
  return (durations.get(request) ?? point - (Date.now() + clockAhead)) <= 0
}

const OPTIONS = 2
const DEADLINE = 7

function durationIn(bytes: Uint8Array): number | undefined {
  const deadline = fieldOf(fieldOf(bytes, OPTIONS), DEADLINE)
  if (deadline === undefined) return undefined
  const duration = durationPb.Duration.deserializeBinary(deadline)
  return duration.getSeconds() * 1_000 + duration.getNanos() / 1_000_000
}

function fieldOf(bytes: Uint8Array | undefined, field: number): Uint8Array | undefined {
  if (bytes === undefined) return undefined
  const reader = new BinaryReader(bytes)
  while (reader.nextField()) {
    if (reader.getFieldNumber() === field) return reader.readBytes()
    reader.skipField()
  }
  return undefined
}
