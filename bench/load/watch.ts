import { setTimeout } from 'node:timers/promises'
import { Connection, open, refusalOf, type Answer } from './connection.ts'

/** A request that is repeated on a separate connection during the load, to measure its latency. */
export type Watched = {
  readonly request: string
  /** Milliseconds from a response to the next request, so that the measurement causes little load. */
  readonly pause: number
}

/**
 * Sends the request until the time is over, at least once.
 * @param end a time of the clock `now`
 * @returns latencies in microseconds, from sending to the complete response
 * @throws if any status is not 2xx
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
