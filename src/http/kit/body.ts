import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkOf } from '../../credentials/network.ts'
import { Refusal } from '../../domain/refusal.ts'
import { FairShare, type Taken } from '../../runtime/fairness/fair-share.ts'
import { LEAST_PACE, Pace, tooSlowMessage as tooSlow, type LeastPace } from '../../runtime/fairness/pace.ts'

/** @throws Refusal unsupported for a body that would have to be unpacked first */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = req.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Refusal('unsupported', `Content-Encoding ${encoding.slice(0, 40)} is not read; send the body as it is`)
  }
}

/**
 * The whole body, as long as it has at most `limit` bytes, comes fast enough and there is room for it. What is left of
 * one that is refused is read and forgotten.
 * @param look sees each piece as it arrives, and refuses the body by throwing
 * @throws Refusal too-large before more than the limit is kept, too-slow, unavailable, or what `look` throws
 */
export function readBody(
  req: IncomingMessage,
  limit: number,
  look: (chunk: Buffer) => void = () => undefined,
): Promise<Buffer> {
  const tooLarge = () => new Refusal('too-large', `The body may have at most ${limit} bytes`)
  const allowance = allowanceOf(req)
  return new Promise((done, fail) => {
    const chunks: Buffer[] = []
    let length = 0
    const pace = new Pace(allowance.leastPace, () => refuse(new Refusal('too-slow', tooSlow(allowance.leastPace))))
    const refuse = (error: unknown) => {
      pace.stop()
      req.off('data', take)
      chunks.length = 0
      discardRest(req)
      fail(error)
    }
    const take = (chunk: Buffer) => {
      try {
        length += chunk.length
        pace.took(chunk.length)
        if (length > limit) throw tooLarge()
        allowance.took(chunk.length)
        look(chunk)
        chunks.push(chunk)
      } catch (error) {
        refuse(error)
      }
    }
    const declared = Number(req.headers['content-length'] ?? 0)
    try {
      if (declared > limit) throw tooLarge()
      allowance.expects(declared)
    } catch (error) {
      refuse(error)
      return
    }
    req.on('data', take)
    req.on('end', () => {
      req.off('close', broken)
      pace.stop()
      done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length))
    })
    const broken = () => {
      pace.stop()
      fail(new Refusal('malformed', 'The connection broke while the body was read'))
    }
    req.on('error', broken)
    // Tells of one that broke before anybody read it as well.
    req.on('close', broken)
    if (req.destroyed) broken()
  })
}

/** What a client is still listened to after its request was refused: it reads the answer once it has sent its body. */
const BYTES = 64 * 1024 * 1024
const MILLISECONDS = 10_000

/** Reads the rest of a request's body and forgets it, within bounds; past them the connection is cut. */
export function discardRest(req: IncomingMessage): void {
  let left = BYTES
  const cut = setTimeout(() => req.destroy(), MILLISECONDS).unref()
  req.on('close', () => clearTimeout(cut))
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) req.destroy()
  })
  // Whoever hangs up before its end has its refusal already, or wants none.
  req.on('error', () => undefined)
  req.resume()
}

/** Bytes of bodies that are in memory at a time, from the first that arrives until the request is answered. */
const BODIES = 64 * 1024 * 1024

/** What one request's body may take, and how fast it has to come. */
type Allowance = {
  readonly leastPace: LeastPace
  /** @throws Refusal unavailable where others need the room */
  took(bytes: number): void
  /** @param bytes that a body says to have. @throws Refusal unavailable where there is no room for them now */
  expects(bytes: number): void
}

type BodiesOptions = {
  /** Number of proxies in front whose X-Forwarded-For is believed. */
  readonly trustProxy: number
  readonly bytes?: number
  readonly leastPace?: LeastPace
}

const UNLIMITED: Allowance = { leastPace: LEAST_PACE, took: () => undefined, expects: () => undefined }
const allowances = new WeakMap<IncomingMessage, Allowance>()

/** What `Bodies` allows a request; nothing bounds all bodies together where a listener has none. */
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
