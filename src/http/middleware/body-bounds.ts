import { Refusal } from '../../domain/decider.ts'
import { networkOf } from '../../credentials/guess-limits.ts'
import { FairShare, type Taken } from '../../runtime/fairness/fair-share.ts'
import { LEAST_PACE, type LeastPace } from '../../runtime/fairness/pace.ts'
import type { BodyAllowance, Context, Middleware } from './context.ts'

/** Bytes of bodies that are in memory at a time, from the first that arrives until the request is answered. */
const BODIES = 64 * 1024 * 1024

export type BodyBounds = { readonly bytes?: number; readonly leastPace?: LeastPace }

/** Bounds the bodies of all requests together: shared fairly among addresses and those who show the same credentials there. */
export function bodyBounds({ bytes = BODIES, leastPace = LEAST_PACE }: BodyBounds): Middleware {
  const share = new FairShare(bytes)
  return (ctx, next) => {
    ctx.state.allowance = new Allowance(ctx, share, leastPace)
    return next()
  }
}

class Allowance implements BodyAllowance {
  #taken: Taken | undefined

  constructor(
    private readonly ctx: Context,
    private readonly share: FairShare,
    readonly leastPace: LeastPace,
  ) {}

  took(bytes: number): void {
    this.#taken ??= this.#open()
    if (!this.#taken.more(bytes)) throw noRoom()
  }

  expects(bytes: number): void {
    if (!this.share.hasRoom(this.#names(), bytes)) throw noRoom()
  }

  #open(): Taken {
    const taken = this.share.open(this.#names())
    this.ctx.res.once('close', () => taken.giveBack())
    return taken
  }

  #names(): readonly string[] {
    return [`address ${networkOf(this.ctx.ip)}`, `as ${this.ctx.headers.authorization ?? 'nobody'}`]
  }
}

const noRoom = () =>
  new Refusal('unavailable', 'Too many bodies of requests are being read at this moment; try again', 2)
