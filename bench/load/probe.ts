import { setTimeout } from 'node:timers/promises'
import { Connection, openSocket, errorIfUnsuccessful, type RawResponse } from './connection.ts'

/** A request that is repeated on a separate connection during the load, to measure its latency. */
export type LatencyProbe = {
  readonly request: string
  /** Milliseconds from a response to the next request, so that the measurement causes little load. */
  readonly pauseMs: number
}

/**
 * Sends the request until the time is over, at least once.
 * @param end a time of the clock `now`
 * @returns latencies in microseconds, from sending to the complete response
 * @throws if any status is not 2xx
 */
export async function measureLatencies(
  port: number,
  { request, pauseMs }: LatencyProbe,
  end: number,
  now: () => number = () => performance.now(),
): Promise<number[]> {
  const socket = await openSocket(port)
  let settle: { done: (response: RawResponse) => void; fail: (error: Error) => void } | undefined
  const connection = new Connection(
    socket,
    (response) => settle?.done(response),
    (error) => settle?.fail(error),
  )
  const latencies: number[] = []
  try {
    do {
      const startedAt = now()
      const response = await new Promise<RawResponse>((done, fail) => {
        settle = { done, fail }
        connection.send(request)
      })
      latencies.push((now() - startedAt) * 1000)
      const error = errorIfUnsuccessful(response)
      if (error) throw error
      await setTimeout(pauseMs)
    } while (now() < end)
  } finally {
    connection.close()
  }
  return latencies
}

/** @param share between 0 and 1: 0.99 for the 99th percentile */
export function percentile(figures: readonly number[], share: number): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}
