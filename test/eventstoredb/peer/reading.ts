import { Metadata, status, type ServerWritableStream } from '@grpc/grpc-js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Faults } from './faults.ts'
import type { Log, RecordedEvent } from './log.ts'
import { leaderErrorOf, type ClusterView } from './cluster-view.ts'
import { subscribeToAll, type Start } from './subscribing.ts'
import { eventMessage, nameOf, notFoundMessage } from './wire.ts'

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>

/** Events that are written before other calls get a turn. */
const EVENTS_PER_TURN = 512

/** The most events of a read that counts as one of single events; a page of a scan has as many. */
const MAX_SINGLE_EVENTS = 4_096

const BACKWARDS = 1

/** Read: a stream or all, forwards or backwards, or a subscription to all. */
export function read(log: Log, faults: Faults, view: ClusterView): (call: ReadCall) => void {
  return (call) => {
    call.on('error', () => {})
    faults.reads++
    if (faults.silent) return
    if (faults.notReady) return fail(call, status.UNAVAILABLE, 'Server Is Not Ready')
    const refusal = leaderErrorOf(call, view)
    if (refusal !== undefined) return void call.emit('error', refusal)
    const options = call.request.getOptions()
    const all = options?.getAll()
    if (options === undefined || (all === undefined && options.hasSubscription())) {
      return fail(call, status.UNIMPLEMENTED, 'The peer subscribes to $all only')
    }
    if (all === undefined) {
      const name = nameOf(options.getStream()?.getStreamIdentifier())
      return faults.readOfStream(name, () => readStream(call, log, options))
    }
    const start = startOf(log, all)
    if (start === undefined) return fail(call, status.UNKNOWN, 'Exception was thrown by handler.')
    const refuses = options.hasSubscription() && faults.refusesSubscriptions
    if (refuses) return fail(call, status.PERMISSION_DENIED, 'Access Denied')
    if (options.hasSubscription()) return subscribeToAll(call, log, faults, start, options.getFilter())
    const count = Number(options.getCount())
    if (count === 0) return fail(call, status.UNKNOWN, 'Unexpected ReadAllResult: Error')
    const backwards = options.getReadDirection() === BACKWARDS
    const respond = () => {
      const index = start === 'end' ? log.all.length : start.index
      void send(call, backwards ? reversed(log.all, index, count) : forwards(log.all, index, count))
    }
    if (count > MAX_SINGLE_EVENTS) return respond()
    if (!backwards) faults.positionsRead.push(BigInt(all.getPosition()?.getCommitPosition() ?? 0))
    faults.readOfAll(respond)
  }
}

function readStream(call: ReadCall, log: Log, options: ReadReq.Options): void {
  const streamOptions = options.getStream()
  const name = nameOf(streamOptions?.getStreamIdentifier())
  const stream = log.stream(name)
  if (log.isTombstone(name)) return failDeleted(call, name)
  if (stream === undefined || log.isDeleted(name)) {
    call.write(notFoundMessage(name))
    call.end()
    return
  }
  const count = Number(options.getCount())
  const backwards = options.getReadDirection() === BACKWARDS
  if (count === 0 || (streamOptions?.hasEnd() === true && !backwards)) {
    return fail(call, status.UNKNOWN, 'Unexpected ReadStreamResult: Error')
  }
  const from =
    streamOptions?.hasEnd() === true
      ? stream.length - 1
      : streamOptions?.hasRevision()
        ? Number(streamOptions.getRevision())
        : 0
  const first = log.firstVisible(name)
  const end = Math.min(from, stream.length - 1) + 1
  if (backwards) void send(call, reversed(stream, end, Math.min(count, Math.max(0, end - first))))
  else void send(call, forwards(stream, Math.max(from, first), count))
}

/** https://github.com/kurrent-io/KurrentDB/blob/v23.10.6/src/EventStore.Core/Services/Transport/Grpc/RpcExceptions.cs */
function failDeleted(call: ReadCall, name: string): void {
  const metadata = new Metadata()
  metadata.set('exception', 'stream-deleted')
  metadata.set('stream-name', name)
  call.emit('error', { code: status.FAILED_PRECONDITION, details: `Event stream '${name}' is deleted.`, metadata })
}

/** @returns undefined for a position between two records, on which the server's handler fails */
function startOf(log: Log, all: ReadReq.Options.AllOptions): Start | undefined {
  const position = all.getPosition()
  if (position === undefined) return all.hasEnd() ? 'end' : { index: 0, inclusive: true }
  const commit = BigInt(position.getCommitPosition())
  const index = log.indexOf(commit)
  const event = log.all[index]
  if (event !== undefined && event.position !== commit) return undefined
  return { index, inclusive: event === undefined || BigInt(position.getPreparePosition()) < event.position }
}

function* forwards(events: readonly RecordedEvent[], from: number, count: number): Generator<RecordedEvent> {
  const end = Math.min(events.length, from + count)
  for (let index = from; index < end; index++) {
    const event = events[index]
    if (event !== undefined) yield event
  }
}

/** Starts with the event before index `end`. */
function* reversed(events: readonly RecordedEvent[], end: number, count: number): Generator<RecordedEvent> {
  for (let index = end - 1; index >= 0 && index >= end - count; index--) {
    const event = events[index]
    if (event !== undefined) yield event
  }
}

async function send(call: ReadCall, events: Iterable<RecordedEvent>): Promise<void> {
  let sent = 0
  for (const event of events) {
    if (call.cancelled) return
    const flows = call.write(eventMessage(event))
    if (!flows) await drained(call)
    else if (++sent % EVENTS_PER_TURN === 0) await new Promise<void>((done) => setImmediate(done))
  }
  call.end()
}

/** Resolves when more can be written or the call has ended. */
export const drained = (call: ReadCall) =>
  new Promise<void>((done) => {
    const settle = () => {
      call.off('drain', settle).off('cancelled', settle).off('close', settle)
      done()
    }
    call.on('drain', settle).on('cancelled', settle).on('close', settle)
  })

export function fail(call: ReadCall, code: status, details: string): void {
  call.emit('error', { code, details })
}
