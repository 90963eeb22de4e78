import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkOf } from '../../credentials/network.ts'
import { Refusal } from '../../domain/refusal.ts'
import { FairShare, type Taken } from '../../runtime/fairness/fair-share.ts'
import { LEAST_PACE, type LeastPace } from '../../runtime/fairness/pace.ts'

/** Bytes of bodies that are in memory at a time, from the first that arrives until the request is answered. */
const BODIES = 64 * 1024 * 1024

/** What one request's body may take, and how fast it has to come. */
export type Allowance = {
  readonly leastPace: LeastPace
  /** @throws Refusal unavailable where others need the room */
  took(bytes: number): void
  /** @param bytes that a body says to have. @throws Refusal unavailable where there is no room for them now */
  expects(bytes: number): void
}

export type BodiesOptions = {
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
  readonly bytes?: number
  readonly leastPace?: LeastPace
}

const UNLIMITED: Allowance = { leastPace: LEAST_PACE, took: () => undefined, expects: () => undefined }
const allowances = new WeakMap<IncomingMessage, Allowance>()

/** What the entrance has allowed; nothing bounds all bodies together where none stands before. */
export const allowanceOf = (req: IncomingMessage): Allowance => allowances.get(req) ?? UNLIMITED

/** The bodies of all requests together, shared fairly among addresses and those who show the same credentials there. */
export class Bodies {
  readonly #share: FairShare
  readonly #trustProxy: number
  readonly #leastPace: LeastPace

  constructor({ trustProxy, bytes = BODIES, leastPace = LEAST_PACE }: BodiesOptions) {
    this.#share = new FairShare(bytes)
    this.#trustProxy = trustProxy
    this.#leastPace = leastPace
  }

  /** Counts a request's body, if it has one, until its answer is sent or its client is gone. */
  admit(req: IncomingMessage, res: ServerResponse): void {
    const { headers } = req
    if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
    const names = [
      `address ${networkOf(clientAddress(req, this.#trustProxy))}`,
      `as ${headers.authorization ?? 'nobody'}`,
    ]
    let taken: Taken | undefined
    allowances.set(req, {
      leastPace: this.#leastPace,
      took: (bytes) => {
        taken ??= this.#opened(names, res)
        if (!taken.more(bytes)) throw noRoom()
      },
      expects: (bytes) => {
        if (!this.#share.hasRoom(names, bytes)) throw noRoom()
      },
    })
  }

  #opened(names: readonly string[], res: ServerResponse): Taken {
    const taken = this.#share.open(names)
    res.once('close', () => taken.giveBack())
    return taken
  }
}

/** Whom the proxies in front speak for; they write from left to right, and only as many as there are can be believed. */
function clientAddress({ socket, headers }: IncomingMessage, trustProxy: number): string {
  const named = trustProxy === 0 ? undefined : headers['x-forwarded-for']
  const known = [named ?? []].flat().join(',').split(',').slice(-Math.max(1, trustProxy))
  return known[0]?.trim() || (socket.remoteAddress ?? '')
}

const noRoom = () =>
  new Refusal('unavailable', 'Too many bodies of requests are being read at this moment; try again', 2)
