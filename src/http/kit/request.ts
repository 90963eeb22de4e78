import type { Context } from 'koa'
import type { Origin } from '../../events/origin.ts'
import { Patience } from '../../projections/engine/patience.ts'

/** Who asks, once `authenticate` has passed. */
export type Caller = { readonly account: number; readonly session: string; readonly client: string }

/** What the middlewares of one request leave for each other. */
export type RequestState = {
  /** Kept from the caller where short and printable, else made; the correlation id of the events. */
  requestId: string
  /** Once the request has waited for something: `patienceOf`. */
  patience?: Patience
  caller?: Caller
  /** The parsed JSON body, once `readJsonBody` has passed. */
  body?: unknown
}

export type Ctx = Context & { state: RequestState }
export type Step = (ctx: Ctx, next: () => Promise<unknown>) => unknown

/** What is left of the request's patience with read models. */
export const patienceOf = ({ state }: Ctx): Patience => (state.patience ??= new Patience())

/** @throws Error when a route forgot `authenticate`: a fault of ours, never of the caller */
export function callerOf(ctx: Ctx): Caller {
  if (ctx.state.caller === undefined) throw new Error(`${ctx.method} ${ctx.path} is not behind authenticate`)
  return ctx.state.caller
}

export function originOf(ctx: Ctx): Origin {
  return originFor(ctx.state.caller?.account, ctx.state.requestId)
}

export function originFor(account: number | undefined, requestId: string): Origin {
  return {
    actor: account === undefined ? 'anonymous' : `account-${account}`,
    via: 'http',
    correlation: requestId,
  }
}

/** Undefined where the request target is no address: reading it throws then. */
export function pathOf(ctx: Ctx): string | undefined {
  try {
    return ctx.path
  } catch {
    return undefined
  }
}
