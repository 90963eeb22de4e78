import { FairQueue } from '../../runtime/fairness/fair-queue.ts'

/** Starts a request when it is the turn of its client. */
type StartInBatch<Request> = (client: string, request: Request) => void

/** The most requests of one batch, and its milliseconds. */
const MAX_BATCH_REQUESTS = 32
const BATCH_MS = 5

/**
 * Batches requests: starts all that arrive in one poll phase of the event loop in one callback. The stores check once per
 * callback whether another process has written (stores/sqlite/change-detection.ts); batched requests share that check of three
 * files, and it still happens after each of them arrived. Clients take turns. If the requests of a batch took longer than
 * 5 ms, with the promise callbacks that followed, the next batch has fewer. While new connections are accepted, a batch waits
 * for up to 5 ms, or as long as the batch before took: libuv accepts one in each iteration of the event loop, so that five
 * hundred with slow requests would keep the next client waiting for seconds.
 * @param isAccepting whether a connection was accepted since the last call
 * @param monotonicClock in milliseconds
 */
export function batchRequests<Request>(
  start: (request: Request) => void,
  isAccepting: () => boolean,
  monotonicClock: () => number = () => performance.now(),
): StartInBatch<Request> {
  const queue = new FairQueue<Request>()
  let maxRequests = MAX_BATCH_REQUESTS
  let isScheduled = false
  let latestStart = 0
  let startedAt = 0
  let startedCount = 0

  function schedule(): void {
    setImmediate(runBatch)
    // Runs right after the promise callbacks of the batch.
    setImmediate(endBatch)
  }

  function runBatch(): void {
    startedAt = monotonicClock()
    startedCount = 0
    if (isAccepting() && startedAt < latestStart) return
    do {
      const request = queue.take()
      if (request === undefined) break
      startedCount++
      start(request)
    } while (startedCount < maxRequests && monotonicClock() < startedAt + BATCH_MS)
  }

  function endBatch(): void {
    if (startedCount > 0) adaptTo(monotonicClock())
    isScheduled = !queue.isEmpty
    if (isScheduled) schedule()
  }

  function adaptTo(endedAt: number): void {
    const elapsedMs = endedAt - startedAt
    latestStart = endedAt + Math.max(BATCH_MS, elapsedMs)
    maxRequests =
      elapsedMs > BATCH_MS
        ? Math.max(1, Math.floor((startedCount * BATCH_MS) / elapsedMs))
        : Math.min(MAX_BATCH_REQUESTS, maxRequests * 2)
  }

  return (client, request) => {
    queue.add(client, request)
    if (isScheduled) return
    isScheduled = true
    latestStart = Math.max(latestStart, monotonicClock() + BATCH_MS)
    schedule()
  }
}
