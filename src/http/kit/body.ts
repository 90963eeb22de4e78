import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkOf } from '../../credentials/network.ts'
import { Refusal } from '../../domain/refusal.ts'
import { FairShare, type Taken } from '../../runtime/fairness/fair-share.ts'
import { LEAST_PACE, Pace, tooSlowMessage as tooSlow, type LeastPace } from '../../runtime/fairness/pace.ts'

/** @throws Refusal unsupported for an upload that would have to be decompressed first */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = encodingOf(req)?.slice(0, 40)
  if (encoding === undefined) return
  throw new Refusal('unsupported', `A file is not read with Content-Encoding ${encoding}; send it as it is`)
}

/** A body that a library reads. */
export type WatchedBody = {
  /** Rejects with a Refusal: too-large, too-slow, unavailable, or malformed for a connection that broke. */
  readonly failed: Promise<never>
  /** Ends the watch, however the reading has ended. */
  stop(): void
}

/**
 * Watches a body while a library reads it: that it has at most `limit` bytes, that it comes fast enough, that there is room
 * for it, and that its client stays.
 * @throws Refusal too-large, unavailable by what its head says
 */
export function watchBody(req: IncomingMessage, limit: number): WatchedBody {
  const allowance = allowanceOf(req)
  const declared = Number(req.headers['content-length'] ?? 0)
  if (declared > limit) throw tooLarge(limit)
  allowance.expects(declared)
  // How many bytes it is decompressed is known only at its end.
  if (encodingOf(req) !== undefined) allowance.took(limit)
  const { promise: failed, reject } = Promise.withResolvers<never>()
  // Nobody waits for it where the reading fails first, or succeeds.
  failed.catch(() => undefined)
  const pace = new Pace(allowance.leastPace, () => reject(new Refusal('too-slow', tooSlow(allowance.leastPace))))
  let length = 0
  const take = (chunk: Buffer) => {
    try {
      length += chunk.length
      pace.took(chunk.length)
      if (length > limit) throw tooLarge(limit)
      allowance.took(chunk.length)
    } catch (error) {
      reject(error)
    }
  }
  const broken = () => {
    pace.stop()
    if (!req.complete) reject(new Refusal('malformed', 'The connection broke while the body was read'))
  }
  req.on('data', take).on('error', broken).on('close', broken)
  if (req.destroyed) broken()
  const stop = () => {
    pace.stop()
    req.off('data', take).off('close', broken)
  }
  return { failed, stop }
}

/** @param limit in bytes */
export const tooLarge = (limit: number) =>
  new Refusal('too-large', `The body may have at most ${limit.toLocaleString('en')} bytes`)

/** How a body is compressed, in lower case; undefined for one that is not. */
export function encodingOf({ headers }: IncomingMessage): string | undefined {
  const encoding = headers['content-encoding']?.toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? undefined : encoding
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
  // What takes no more would stop it.
  req.unpipe()
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
