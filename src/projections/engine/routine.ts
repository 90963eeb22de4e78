import type { Round } from './loop.ts'

/** Something that is done by the clock: expiry, sweeping, mail that is due. Every process with the role does it. */
export type Routine<Tools> = {
  /** Its counters are kept under it. */
  readonly name: string
  /** Milliseconds between the end of a round and the next one, unless it is woken before. */
  readonly every: number
  /** How many rounds may be under way at once; one unless told. */
  readonly lanes?: number
  /** Milliseconds that a stop waits for the rounds under way, unless 3 s. */
  readonly patience?: number
  /** One round. @param tools what it works with */
  readonly doing: (tools: Tools) => Round
  /** Done once behind the last round, when it is stopped. */
  readonly last?: (tools: Tools) => Promise<void>
}

/** Declares what is done by the clock. */
export const routine = <Tools>(declared: Routine<Tools>): Routine<Tools> => declared
