import * as assert from 'uvu/assert'
import type { Answer } from '../../api/harness/request.ts'
import type { Operation, Outcome } from './history/operation.ts'

/** What came of one request. */
export type Reply = {
  readonly client: number
  readonly began: number
  readonly ended: number
  readonly outcome: Outcome
  /** Absent where the connection broke before it came. */
  readonly answer?: Answer
}

/** What a client has to live with: conflicts and limits. */
const REFUSED: ReadonlySet<number> = new Set([409, 412, 429])
const MISSING: readonly number[] = [404]

/** Everything that clients asked for and were told, and how long it took. */
export class Record {
  readonly operations: Operation[] = []
  /** Answers that no client of this kind should ever get. */
  readonly unexpected: string[] = []
  readonly refusals = new Map<number, number>()
  /** Milliseconds of each single create that was acknowledged. */
  readonly creates: number[] = []
  requests = 0
  acknowledged = 0
  lost = 0

  /**
   * Sends one request, and tells what came of it. An answer that breaks the API's description is put down as unexpected.
   * @param missing statuses by which what is asked for is told not to be there, or not any more
   */
  async ask(client: number, send: () => Promise<Answer>, missing = MISSING): Promise<Reply> {
    this.requests++
    const began = performance.now()
    try {
      const answer = await send()
      return { client, began, ended: performance.now(), outcome: this.#outcomeOf(answer, missing), answer }
    } catch (error) {
      if (error instanceof assert.Assertion || !(error instanceof Error)) this.unexpected.push(String(error))
      else this.lost++
      return { client, began, ended: performance.now(), outcome: 'unknown' }
    }
  }

  #outcomeOf({ status, text, headers }: Answer, missing: readonly number[]): Outcome {
    if (status < 300) {
      this.acknowledged++
      // What was written last may be missing, and the answer says so.
      return headers['x-consistency'] === 'stale' ? 'unknown' : 'done'
    }
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1)
    if (missing.includes(status)) return 'missing'
    if (REFUSED.has(status)) return 'refused'
    if (status !== 503) this.unexpected.push(`${status} ${text.slice(0, 300)}`)
    return 'unknown'
  }

  keep(...operations: Operation[]): void {
    this.operations.push(...operations)
  }
}
