import * as assert from 'uvu/assert'
import type { ApiResponse } from '../../api/harness/request.ts'
import type { Operation, Outcome } from './history/operation.ts'

/** The result of a request. */
export type Reply = {
  readonly client: number
  readonly startedAt: number
  readonly endedAt: number
  readonly outcome: Outcome
  /** Absent if the connection broke before the response. */
  readonly response?: ApiResponse
}

/** Statuses that a client must expect: conflicts and limits. */
const REFUSED: ReadonlySet<number> = new Set([409, 412, 429])
const MISSING: readonly number[] = [404]

/** Records all operations of clients with their results and durations. */
export class RunRecord {
  readonly operations: Operation[] = []
  /** Responses that no client should get. */
  readonly unexpected: string[] = []
  readonly refusals = new Map<number, number>()
  /** Durations of acknowledged single creates in milliseconds. */
  readonly creates: number[] = []
  requests = 0
  acknowledged = 0
  lost = 0

  /**
   * Sends a request. A response that violates the API's description is recorded as unexpected.
   * @param missing statuses that mean that the requested resource does not exist or has ended
   */
  async send(client: number, send: () => Promise<ApiResponse>, missing = MISSING): Promise<Reply> {
    this.requests++
    const startedAt = performance.now()
    try {
      const response = await send()
      return { client, startedAt, endedAt: performance.now(), outcome: this.#outcomeOf(response, missing), response }
    } catch (error) {
      if (error instanceof assert.Assertion || !(error instanceof Error)) this.unexpected.push(String(error))
      else this.lost++
      return { client, startedAt, endedAt: performance.now(), outcome: 'unknown' }
    }
  }

  #outcomeOf({ status, text, headers }: ApiResponse, missing: readonly number[]): Outcome {
    if (status < 300) {
      this.acknowledged++
      // A stale response may lack the latest writes.
      return headers['x-consistency'] === 'stale' ? 'unknown' : 'done'
    }
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1)
    if (missing.includes(status)) return 'missing'
    if (REFUSED.has(status)) return 'refused'
    if (status !== 503) this.unexpected.push(`${status} ${text.slice(0, 300)}`)
    return 'unknown'
  }

  add(...operations: Operation[]): void {
    this.operations.push(...operations)
  }
}
