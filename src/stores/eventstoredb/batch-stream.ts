import { randomUUID } from 'node:crypto'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import streamsPb from '@eventstore/db-client/generated/streams_pb.js'
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js'
import type { Position, Revision } from '../event-store.ts'
import type { BatchCall, Connection } from './connection.ts'
import type { Encoded } from './encoding.ts'

/** What became of an append. `unknown`: it may be stored, or may be later. */
export type Answer =
  | { readonly kind: 'stored'; readonly position: Position }
  | { readonly kind: 'wrong revision'; readonly actual: Revision }
  | { readonly kind: 'refused' | 'unknown'; readonly reason: Error }

/** The call that carries every append of this process, and who waits for an answer on it. */
type Open = {
  readonly call: BatchCall
  readonly waiting: Map<string, (answer: Answer) => void>
  /** When the server last answered, in milliseconds of the monotonic clock. */
  heardAt: number
}

/**
 * Sends appends over one long-lived call, each answered by its correlation id, whatever the order. Each call knows only
 * its own appends, so that its end is told to them and to no others.
 */
export class BatchStream {
  #open: Promise<Open> | undefined

  constructor(
    private readonly connection: Connection,
    /** Milliseconds that an answer may take. */
    private readonly patience: number,
  ) {}

  /** Never rejects: what went wrong is an answer, too. */
  async send(stream: string, expected: Revision, { messages }: Encoded): Promise<Answer> {
    const correlation = randomUUID()
    let open: Open
    try {
      open = await (this.#open ??= this.#start())
    } catch (error) {
      this.#open = undefined
      return { kind: 'refused', reason: errorOf(error) }
    }
    return new Promise((resolve) => {
      const sentAt = performance.now()
      const timer = setTimeout(() => {
        settle({ kind: 'unknown', reason: new Error(`no answer within ${this.patience} ms`) })
        if (open.heardAt < sentAt) open.call.cancel()
      }, this.patience)
      const settle = (answer: Answer) => {
        clearTimeout(timer)
        open.waiting.delete(correlation)
        resolve(answer)
      }
      open.waiting.set(correlation, settle)
      open.call.write(this.#request(correlation, stream, expected, messages))
    })
  }

  async #start(): Promise<Open> {
    const call = await this.connection.openBatch()
    const open: Open = { call, waiting: new Map(), heardAt: Number.NEGATIVE_INFINITY }
    const ended = (reason: Error) => {
      this.#open = undefined
      for (const settle of open.waiting.values()) settle({ kind: 'unknown', reason })
    }
    call.on('data', (response: BatchAppendResp) => {
      open.heardAt = performance.now()
      open.waiting.get(response.getCorrelationId()?.getString() ?? '')?.(answerOf(response))
    })
    call.on('error', ended)
    call.on('end', () => ended(new Error('the server ended the call that carries appends')))
    return open
  }

  #request(correlation: string, stream: string, expected: Revision, messages: Encoded['messages']): BatchAppendReq {
    const uuid = new sharedPb.UUID()
    uuid.setString(correlation)
    const identifier = new sharedPb.StreamIdentifier()
    identifier.setStreamName(Buffer.from(stream, 'utf8'))
    const options = new streamsPb.BatchAppendReq.Options()
    options.setStreamIdentifier(identifier)
    options.setDeadline(timestampPb.Timestamp.fromDate(new Date(Date.now() + this.patience)))
    if (expected === 'none') options.setNoStream(new sharedPb.Empty())
    else options.setStreamPosition(expected.toString())
    const request = new streamsPb.BatchAppendReq()
    request.setCorrelationId(uuid)
    request.setOptions(options)
    request.setProposedMessagesList([...messages])
    request.setIsFinal(true)
    return request
  }
}

function answerOf(response: BatchAppendResp): Answer {
  const success = response.getSuccess()
  const position = success?.getPosition()
  if (success === undefined) return failureOf(response)
  if (position === undefined) return { kind: 'unknown', reason: new Error('the server gave no position') }
  const [commit, prepare] = [BigInt(position.getCommitPosition()), BigInt(position.getPreparePosition())]
  return { kind: 'stored', position: { commit, prepare } }
}

/** A timeout of the server says nothing about what it stored in the end; what it says not to know, neither. */
function failureOf(response: BatchAppendResp): Answer {
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

/** Nothing was stored. `BadRequest` is also what a node answers that is not ready. */
const REFUSALS: ReadonlySet<string> = new Set([
  'AccessDenied',
  'BadRequest',
  'MaximumAppendSizeExceeded',
  'StreamDeleted',
  'InvalidTransaction',
])

const errorOf = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
