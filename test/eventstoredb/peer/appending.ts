import type { ServerDuplexStream } from '@grpc/grpc-js'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import statusPb from '@eventstore/db-client/generated/status_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import anyPb from 'google-protobuf/google/protobuf/any_pb.js'
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js'
import { isPast } from './deadlines.ts'
import type { Faults } from './faults.ts'
import { MAX_APPEND, type AppendResult, type ExpectedRevision, type Log, type ProposedEvent } from './log.ts'
import { leaderErrorOf, type ClusterView } from './cluster-view.ts'
import { idOf, identifierOf, nameOf } from './wire.ts'

type Call = ServerDuplexStream<BatchAppendReq, BatchAppendResp>

/** One append, whose messages arrive one after another on the batch stream. */
type Batch = { readonly options: BatchAppendReq.Options; readonly events: ProposedEvent[] }

/** The server's write timeout in milliseconds; a longer deadline of a client does not extend it. */
const WRITE_TIMEOUT = 2_000

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** BatchAppend: many appends on one stream; responses carry the correlation id of their append. */
export function batchAppend(log: Log, faults: Faults, view: ClusterView): (call: Call) => void {
  return (call) => {
    const open = new Map<string, Batch>()
    call.on('data', (request: BatchAppendReq) => {
      const correlation = idOf(request.getCorrelationId())
      const options = request.getOptions()
      if (options !== undefined) open.set(correlation, { options, events: [] })
      const batch = open.get(correlation)
      if (batch === undefined) return
      batch.events.push(...request.getProposedMessagesList().map(proposedOf))
      if (!request.getIsFinal()) return
      open.delete(correlation)
      const refusal = faults.silent ? undefined : leaderErrorOf(call, view)
      if (refusal !== undefined) call.emit('error', refusal)
      // A deposed leader waits for the other nodes and does not respond.
      else if (view.role() !== 'deposed') respondTo(call, request, batch, log, faults)
    })
    call.on('end', () => call.end())
    call.on('error', () => {})
  }
}

function respondTo(call: Call, request: BatchAppendReq, { options, events }: Batch, log: Log, faults: Faults): void {
  if (faults.silent) return
  const stream = nameOf(options.getStreamIdentifier())
  const expected = expectedOf(options)
  const respond = (response: BatchAppendResp) => {
    response.setCorrelationId(request.getCorrelationId())
    response.setStreamIdentifier(identifierOf(stream))
    if (!call.cancelled && !call.destroyed) call.write(response)
  }
  if (faults.notReady) return respond(failure('Server Is Not Ready', ['google.protobuf.Empty', new Uint8Array()]))
  if (isPast(request, faults.clockAheadMs)) return respond(timeout())
  if (stream === '' || events.some(({ id, type }) => !UUID.test(id) || type === '')) {
    respond(failure('BadRequest'))
    // The second response crashes a process that uses the client's own append.
    if (stream !== '') setTimeout(() => respond(timeout()), WRITE_TIMEOUT).unref()
    return
  }
  const store = () => log.append(stream, expected, events)
  const fault = faults.appends.shift()
  if (fault === 'late') return faults.addLateAppend(() => void store())
  if (fault === 'conflict') return respond(responseOf({ kind: 'wrong', actual: 1_000_000n }, expected))
  const stored = fault?.endsWith('lost') === true ? undefined : store()
  if (fault?.startsWith('silent') === true) return
  faults.respondTogether(() =>
    respond(fault !== undefined || stored === undefined ? timeout() : responseOf(stored, expected)),
  )
}

function proposedOf(message: BatchAppendReq.ProposedMessage): ProposedEvent {
  return {
    id: idOf(message.getId()),
    type: message.getMetadataMap().get('type') ?? '',
    contentType: message.getMetadataMap().get('content-type') ?? '',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  }
}

function expectedOf(options: BatchAppendReq.Options): ExpectedRevision {
  if (options.hasStreamPosition()) return BigInt(options.getStreamPosition())
  if (options.hasNoStream()) return 'no_stream'
  return options.hasStreamExists() ? 'stream_exists' : 'any'
}

function responseOf(appended: AppendResult, expected: ExpectedRevision): BatchAppendResp {
  if (appended.kind === 'wrong') return failure('WrongExpectedVersion', wrongVersion(appended.actual, expected))
  if (appended.kind === 'stream deleted')
    return failure('', ['StreamDeleted', new sharedPb.StreamDeleted().serializeBinary()])
  if (appended.kind === 'too large') {
    const details = new sharedPb.MaximumAppendSizeExceeded()
    details.setMaxappendsize(MAX_APPEND)
    return failure('', ['MaximumAppendSizeExceeded', details.serializeBinary()])
  }
  const success = new streamsPb.BatchAppendResp.Success()
  success.setCurrentRevision(String(appended.revision))
  if (appended.position !== undefined) {
    const position = new sharedPb.AllStreamPosition()
    position.setCommitPosition(String(appended.position))
    position.setPreparePosition(String(appended.position))
    success.setPosition(position)
  } else success.setNoPosition(new emptyPb.Empty())
  const response = new streamsPb.BatchAppendResp()
  response.setSuccess(success)
  return response
}

function wrongVersion(actual: bigint | undefined, expected: ExpectedRevision): Details {
  const details = new sharedPb.WrongExpectedVersion()
  if (actual === undefined) details.setCurrentNoStream(new emptyPb.Empty())
  else details.setCurrentStreamRevision(String(actual))
  if (typeof expected === 'bigint') details.setExpectedStreamPosition(String(expected))
  else if (expected === 'no_stream') details.setExpectedNoStream(new emptyPb.Empty())
  else if (expected === 'stream_exists') details.setExpectedStreamExists(new emptyPb.Empty())
  else details.setExpectedAny(new emptyPb.Empty())
  return ['WrongExpectedVersion', details.serializeBinary()]
}

const timeout = () => failure('Timeout', ['Timeout', new sharedPb.Timeout().serializeBinary()])

type Details = readonly [type: string, bytes: Uint8Array]

function failure(message: string, [type, bytes]: Details = ['BadRequest', new Uint8Array()]): BatchAppendResp {
  const details = new anyPb.Any()
  details.pack(bytes, type.includes('.') ? type : `event_store.client.${type}`)
  const status = new statusPb.Status()
  status.setMessage(message)
  status.setDetails(details)
  const response = new streamsPb.BatchAppendResp()
  response.setError(status)
  return response
}
