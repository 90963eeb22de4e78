import type { RequestListener } from 'node:http'

/** Requests that are begun in one go, and milliseconds after which the others wait for the next: timers come between. */
const MOST = 64
const SLICE = 5

/**
 * Begins requests behind the poll that has brought them, all in one callback. Before each answer the stores are asked
 * whether another process has written, once a callback (stores/sqlite/changes.ts): these requests share the asking, which
 * comes behind the arrival of each, where every one by itself asked three files.
 * @param monotonic milliseconds that never go back
 */
export function begunTogether<Request extends readonly unknown[]>(
  begin: (...request: Request) => void,
  monotonic: () => number = () => performance.now(),
): (...request: Request) => void {
  let arrived: Request[] = []

  function beginAll(): void {
    const now = arrived
    arrived = []
    const until = monotonic() + SLICE
    for (const [index, request] of now.entries()) {
      if (index === MOST || (index > 0 && monotonic() >= until)) {
        arrived = [...now.slice(index), ...arrived]
        setImmediate(beginAll)
        return
      }
      begin(...request)
    }
  }

  return (...request) => {
    if (arrived.push(request) === 1) setImmediate(beginAll)
  }
}

/** The same for a server's requests: whoever has hung up meanwhile wants nothing, and no event tells of it any more. */
export const answeredTogether = (answer: RequestListener): RequestListener =>
  begunTogether((req, res) => {
    if (!req.socket.destroyed) answer(req, res)
  })
