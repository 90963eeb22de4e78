import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { BinaryWriter } from 'google-protobuf'
import durationPb from 'google-protobuf/google/protobuf/duration_pb.js'
import { randomUUID } from 'node:crypto'
import { Deadline } from '../../runtime/deadline.ts'
import type { Position, Revision } from '../ports/event-store.ts'
import type { EventStoreDBConnection } from './connection.ts'
import type { AppendChunk } from './encoding.ts'
import type { BatchCall, EventStoreNode } from './node.ts'
import type { Timing } from './timing.ts'

export type AppendRequest = {
  readonly correlationId: string
  readonly stream: string
  readonly expected: Revision
  readonly messages: AppendChunk['messages']
  /** Milliseconds that the server may take. */
  readonly deadlineMs: number
}

/** One append, in one message of the call that carries them all. */
function appendRequest({ correlationId, stream, expected, messages, deadlineMs }: AppendRequest): BatchAppendReq {
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
  request.serializeBinary = () => bytesOf(request, options, deadlineMs)
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

/** What became of an append. `unknown`: it may be stored, or may be later. */
export type BatchAppendResult =
  | { readonly kind: 'stored'; readonly position: Position }
  | { readonly kind: 'wrong revision'; readonly actual: Revision }
  | { readonly kind: 'refused' | 'unknown'; readonly reason: Error }

/** The call that carries every append of this process, and who waits for an answer on it. */
type OpenBatchCall = {
  readonly node: EventStoreNode
  readonly call: BatchCall
  readonly pending: Map<string, (answer: BatchAppendResult) => void>
  /** When the server last answered, in milliseconds of the monotonic clock. */
  lastResponseAt: number
}

/**
 * Sends appends over one long-lived call, each answered by its correlation id, whatever the order. Each call knows only
 * its own appends, so that its end is told to them and to no others.
 */
export class BatchAppendStream {
  #open: Promise<OpenBatchCall> | undefined
  #underWay = 0

  constructor(
    private readonly connection: EventStoreDBConnection,
    private readonly timing: Pick<Timing, 'appendTimeoutMs'>,
  ) {}

  /** Whether an append has no answer yet. */
  get isAppending(): boolean {
    return this.#underWay > 0
  }

  /** Never rejects: what went wrong is an answer, too. */
  async send(stream: string, expected: Revision, run: AppendChunk): Promise<BatchAppendResult> {
    this.#underWay++
    const answer = await this.#send(stream, expected, run)
    this.#underWay--
    return answer
  }

  async #send(stream: string, expected: Revision, { messages }: AppendChunk): Promise<BatchAppendResult> {
    const correlation = randomUUID()
    const opening = (this.#open ??= this.#start())
    let open: OpenBatchCall
    try {
      open = await opening
    } catch (error) {
      if (this.#open === opening) this.#open = undefined
      return { kind: 'refused', reason: errorOf(error) }
    }
    const patience = this.timing.appendTimeoutMs
    return new Promise((resolve) => {
      const sentAt = performance.now()
      const deadline = new Deadline(() => {
        settle({ kind: 'unknown', reason: new Error(`no answer within ${patience} ms`) })
        this.connection.reportTimeout(open.node, patience)
        if (open.lastResponseAt < sentAt) open.call.cancel()
      }, patience)
      const settle = (answer: BatchAppendResult) => {
        deadline.clear()
        open.pending.delete(correlation)
        resolve(answer)
      }
      open.pending.set(correlation, settle)
      open.call.write(appendRequest({ correlationId: correlation, stream, expected, messages, deadlineMs: patience }))
    })
  }

  async #start(): Promise<OpenBatchCall> {
    const node = await this.connection.node()
    const call = await node.openBatchAppend()
    const open: OpenBatchCall = { node, call, pending: new Map(), lastResponseAt: Number.NEGATIVE_INFINITY }
    const started = this.#open
    let isOver = false
    let stay = () => {}
    const ended = (reason: Error) => {
      isOver = true
      stay()
      if (this.#open === started) this.#open = undefined
      for (const settle of open.pending.values()) settle({ kind: 'unknown', reason })
    }
    stay = node.onClose(() => ended(new Error('its node was given up')))
    call.on('data', (response: BatchAppendResp) => {
      node.recordResponse()
      open.lastResponseAt = node.lastActivityAt
      const answer = answerOf(response)
      open.pending.get(response.getCorrelationId()?.getString() ?? '')?.(answer)
      if ('reason' in answer) this.#lookAt(node, answer)
    })
    call.on('error', (error: Error) => {
      ended(error)
      this.connection.reportFailure(node, error)
    })
    call.on('end', () => ended(new Error('the server ended the call that carries appends')))
    if (isOver) throw new Error('its node was given up')
    return open
  }

  /** A leader that can't store what it is given may be none any more. */
  #lookAt(node: EventStoreNode, { kind, reason }: Extract<BatchAppendResult, { reason: Error }>): void {
    this.connection.reportFailure(node, reason)
    if (kind === 'unknown') this.connection.verifyLeader(node)
  }
}

function answerOf(response: BatchAppendResp): BatchAppendResult {
  const success = response.getSuccess()
  const position = success?.getPosition()
  if (success === undefined) return failureOf(response)
  if (position === undefined) return { kind: 'unknown', reason: new Error('the server gave no position') }
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())]
  return { kind: 'stored', position: { commit, prepare } }
}

/** A timeout of the server says nothing about what it stored in the end; what it says not to know, neither. */
function failureOf(response: BatchAppendResp): BatchAppendResult {
  const error = response.getError()
  const details = error?.getDetails()
  const type = details?.getTypeName().replace('event_store.client.', '') ?? ''
  if (type === 'WrongExpectedVersion') {
    const wrong = sharedPb.WrongExpectedVersion.deserializeBinary(details?.getValue_asU8() ?? new Uint8Array())
    const actual = wrong.hasCurrentStreamRevision() ? BigInt(wrong.getCurrentStreamRevision()) : 'none'
    return { kind: 'wrong revision', actual }
  }
  const reason = new Error(`the server answered ${[type, error?.getMessage()].filter(Boolean).join(': ')}`)
  return { kind: REFUSALS.has(type) ? 'refused' : 'unknown', reason }
}

/** Nothing was stored. `Empty` is what a node answers that is not ready, too busy, or knows of no leader. */
const REFUSALS: ReadonlySet<string> = new Set([
  'google.protobuf.Empty',
  'AccessDenied',
  'BadRequest',
  'MaximumAppendSizeExceeded',
  'StreamDeleted',
  'InvalidTransaction',
])

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
