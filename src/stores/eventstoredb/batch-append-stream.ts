import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { randomUUID } from 'node:crypto'
import { Deadline } from '../../runtime/deadline.ts'
import type { Position, Revision } from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import type { AppendChunk } from './encoding.ts'
import type { BatchCall, EventStoreNode } from './node.ts'
import type { Timing } from './timing.ts'

type AppendRequest = {
  readonly correlationId: string
  readonly stream: string
  readonly expected: Revision
  readonly messages: AppendChunk['messages']
}

/**
 * Without a deadline: the server applies the shorter of a request's and its own, 2 s by default, and the client's
 * messages contain one only as a timestamp, which a server whose clock is ahead considers expired.
 */
function appendRequest({ correlationId, stream, expected, messages }: AppendRequest): BatchAppendReq {
  const uuid = new sharedPb.UUID()
  uuid.setString(correlationId)
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
  request.setOptions(options)
  return request
}

/**
 * The outcome of an append. `unknown`: it may have been stored, or may still be stored later. `repeated`: it was stored
 * before, but reads of the stream may not return its events any more. `stream deleted`: permanently.
 */
export type BatchAppendResult =
  | { readonly kind: 'stored'; readonly position: Position }
  | { readonly kind: 'wrong revision'; readonly actual: Revision }
  | { readonly kind: 'stream deleted' }
  | { readonly kind: 'refused' | 'unknown' | 'repeated'; readonly reason: Error }

/** The call that carries all appends of this process, with the pending appends by correlation id. */
type OpenBatchCall = {
  readonly node: EventStoreNode
  readonly call: BatchCall
  readonly pending: Map<string, (result: BatchAppendResult) => void>
  /** When the server last responded, in milliseconds of the monotonic clock. */
  lastResponseAt: number
}

/**
 * Sends appends over one long-lived call; responses are matched by correlation id, in any order. Each call keeps its
 * own pending appends, so that its end fails only these.
 */
export class BatchAppendStream {
  #open: Promise<OpenBatchCall> | undefined
  #pendingCount = 0

  constructor(
    private readonly connection: EventStoreDBConnection,
    private readonly timing: Pick<Timing, 'appendTimeoutMs'>,
  ) {}

  get isAppending(): boolean {
    return this.#pendingCount > 0
  }

  /** Never rejects: failures are returned as results. */
  async send(stream: string, expected: Revision, chunk: AppendChunk): Promise<BatchAppendResult> {
    this.#pendingCount++
    try {
      return await this.#send(stream, expected, chunk)
    } finally {
      this.#pendingCount--
    }
  }

  async #send(stream: string, expected: Revision, { messages }: AppendChunk): Promise<BatchAppendResult> {
    const correlationId = randomUUID()
    const opening = (this.#open ??= this.#start())
    let open: OpenBatchCall
    try {
      open = await opening
    } catch (error) {
      if (this.#open === opening) this.#open = undefined
      return { kind: 'refused', reason: errorOf(error) }
    }
    const timeoutMs = this.timing.appendTimeoutMs
    return new Promise((resolve) => {
      const sentAt = performance.now()
      const deadline = new Deadline(() => {
        settle({ kind: 'unknown', reason: new Error(`no response within ${timeoutMs} ms`) })
        this.connection.reportTimeout(open.node, timeoutMs)
        if (open.lastResponseAt < sentAt) open.call.cancel()
      }, timeoutMs)
      const settle = (result: BatchAppendResult) => {
        deadline.clear()
        open.pending.delete(correlationId)
        resolve(result)
      }
      open.pending.set(correlationId, settle)
      open.call.write(appendRequest({ correlationId, stream, expected, messages }))
    })
  }

  async #start(): Promise<OpenBatchCall> {
    const node = await this.connection.node()
    const call = await node.openBatchAppend()
    const open: OpenBatchCall = { node, call, pending: new Map(), lastResponseAt: Number.NEGATIVE_INFINITY }
    const opening = this.#open
    let hasEnded = false
    let removeCloseListener = () => {}
    const endCall = (reason: Error) => {
      hasEnded = true
      removeCloseListener()
      if (this.#open === opening) this.#open = undefined
      for (const settle of open.pending.values()) settle({ kind: 'unknown', reason })
    }
    removeCloseListener = node.onClose(endCall)
    call.on('data', (response: BatchAppendResp) => {
      node.recordResponse()
      open.lastResponseAt = node.lastActivityAt
      const result = answerOf(response)
      open.pending.get(response.getCorrelationId()?.getString() ?? '')?.(result)
      if ('reason' in result) this.#reportFailure(node, result)
    })
    call.on('error', (error: Error) => {
      endCall(error)
      this.connection.reportFailure(node, error)
    })
    call.on('end', () => endCall(new Error('the server ended the batch-append call')))
    if (hasEnded) throw new Error('the connection to its node was closed')
    return open
  }

  /** A leader that cannot store an append may no longer be the leader. */
  #reportFailure(node: EventStoreNode, { kind, reason }: Extract<BatchAppendResult, { reason: Error }>): void {
    this.connection.reportFailure(node, reason)
    if (kind === 'unknown') this.connection.verifyLeader(node)
  }
}

function answerOf(response: BatchAppendResp): BatchAppendResult {
  const success = response.getSuccess()
  const position = success?.getPosition()
  if (success === undefined) return failureOf(response)
  // The server looks up the position of a repeated event by a read of its stream.
  if (position === undefined) return { kind: 'repeated', reason: new Error('the server returned no position') }
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())]
  return { kind: 'stored', position: { commit, prepare } }
}

/** After a timeout or an unknown error on the server, the append may still have been stored. */
function failureOf(response: BatchAppendResp): BatchAppendResult {
  const error = response.getError()
  const details = error?.getDetails()
  const type = details?.getTypeName().replace('event_store.client.', '') ?? ''
  if (type === 'WrongExpectedVersion') {
    const wrong = sharedPb.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array())
    const actual = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : 'none'
    return { kind: 'wrong revision', actual }
  }
  if (type === 'StreamDeleted') return { kind: 'stream deleted' }
  const reason = new Error(`the server responded with ${[type, error?.getMessage()].filter(Boolean).join(': ')}`)
  return { kind: REFUSALS.has(type) ? 'refused' : 'unknown', reason }
}

/**
 * Errors after which nothing was stored. `Empty` is the response of a node that is not ready, too busy, or knows of no
 * leader.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  'google.protobuf.Empty',
  'AccessDenied',
  'BadRequest',
  'MaximumAppendSizeExceeded',
  'InvalidTransaction',
])

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
