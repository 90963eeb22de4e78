import { randomUUID } from 'node:crypto'
import sharedPb from '@eventstore/db-client/generated/shared_pb.js'
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import { Deadline } from '../../runtime/deadline.ts'
import type { Position, Revision } from '../ports/event-store.ts'
import { appendRequest } from './append-request.ts'
import type { Connection } from './connection.ts'
import type { Encoded } from './encoding.ts'
import type { BatchCall, EventStoreNode } from './node.ts'
import type { Timing } from './timing.ts'

/** What became of an append. `unknown`: it may be stored, or may be later. */
export type Answer =
  | { readonly kind: 'stored'; readonly position: Position }
  | { readonly kind: 'wrong revision'; readonly actual: Revision }
  | { readonly kind: 'refused' | 'unknown'; readonly reason: Error }

/** The call that carries every append of this process, and who waits for an answer on it. */
type Open = {
  readonly node: EventStoreNode
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
  #underWay = 0

  constructor(
    private readonly connection: Connection,
    private readonly timing: Pick<Timing, 'append'>,
  ) {}

  /** Whether an append has no answer yet. */
  get isUnderWay(): boolean {
    return this.#underWay > 0
  }

  /** Never rejects: what went wrong is an answer, too. */
  async send(stream: string, expected: Revision, run: Encoded): Promise<Answer> {
    this.#underWay++
    const answer = await this.#send(stream, expected, run)
    this.#underWay--
    return answer
  }

  async #send(stream: string, expected: Revision, { messages }: Encoded): Promise<Answer> {
    const correlation = randomUUID()
    const opening = (this.#open ??= this.#start())
    let open: Open
    try {
      open = await opening
    } catch (error) {
      if (this.#open === opening) this.#open = undefined
      return { kind: 'refused', reason: errorOf(error) }
    }
    const patience = this.timing.append
    return new Promise((resolve) => {
      const sentAt = performance.now()
      const deadline = new Deadline(() => {
        settle({ kind: 'unknown', reason: new Error(`no answer within ${patience} ms`) })
        this.connection.unanswered(open.node, patience)
        if (open.heardAt < sentAt) open.call.cancel()
      }, patience)
      const settle = (answer: Answer) => {
        deadline.clear()
        open.waiting.delete(correlation)
        resolve(answer)
      }
      open.waiting.set(correlation, settle)
      open.call.write(appendRequest({ correlation, stream, expected, messages, deadline: patience }))
    })
  }

  async #start(): Promise<Open> {
    const node = await this.connection.node()
    const call = await node.openBatch()
    const open: Open = { node, call, waiting: new Map(), heardAt: Number.NEGATIVE_INFINITY }
    const started = this.#open
    let isOver = false
    let stay = () => {}
    const ended = (reason: Error) => {
      isOver = true
      stay()
      if (this.#open === started) this.#open = undefined
      for (const settle of open.waiting.values()) settle({ kind: 'unknown', reason })
    }
    stay = node.onLeaving(() => ended(new Error('its node was given up')))
    call.on('data', (response: BatchAppendResp) => {
      node.heard()
      open.heardAt = node.heardAt
      const answer = answerOf(response)
      open.waiting.get(response.getCorrelationId()?.getString() ?? '')?.(answer)
      if ('reason' in answer) this.#lookAt(node, answer)
    })
    call.on('error', (error: Error) => {
      ended(error)
      this.connection.failed(node, error)
    })
    call.on('end', () => ended(new Error('the server ended the call that carries appends')))
    if (isOver) throw new Error('its node was given up')
    return open
  }

  /** A leader that can't store what it is given may be none any more. */
  #lookAt(node: EventStoreNode, { kind, reason }: Extract<Answer, { reason: Error }>): void {
    this.connection.failed(node, reason)
    if (kind === 'unknown') this.connection.doubt(node)
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
