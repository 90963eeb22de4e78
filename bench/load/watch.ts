import { setTimeout } from 'node:timers/promises'
import { Connection, open, refusalOf, type Answer } from './connection.ts'

/** One request, sent again and again on a connection of its own beside the load: how long it takes is what is asked. */
export type Watched = {
  readonly request: string
  /** Milliseconds between an answer and the next request, so that waiting is measured and not its own load. */
  readonly pause: number
}

/**
 * Sends the request until the time is over, and at least once.
 * @param end a time of that clock
 * @returns the microseconds that each took, from the write to the whole answer
 * @throws when any answer is not a 2xx
 */
export async function watch(
  port: number,
  { request, pause }: Watched,
  end: number,
  now: () => number = () => performance.now(),
): Promise<number[]> {
  const socket = await open(port)
  let settle: { done: (answer: Answer) => void; fail: (error: Error) => void } | undefined
  const connection = new Connection(
    socket,
    (answer) => settle?.done(answer),
    (error) => settle?.fail(error),
  )
  const taken: number[] = []
  try {
    do {
      const begun = now()
      const answer = await new Promise<Answer>((done, fail) => {
        settle = { done, fail }
        connection.send(request)
      })
      taken.push((now() - begun) * 1000)
      const refusal = refusalOf(answer)
      if (refusal) throw refusal
      await setTimeout(pause)
    } while (now() < end)
  } finally {
    connection.close()
  }
  return taken
}

/** @param share between 0 and 1: 0.99 for the 99th percentile */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}
