import type Koa from 'koa'
import type { Answer } from '../kit/answer.ts'
import type { LeastPace } from '../../runtime/fairness/pace.ts'
import type { Endpoint } from '../kit/endpoint.ts'

/** What middlewares tell each other of a request. */
export type State = {
  requestId: string
  /** The trace that it is a part of, as `traceparent` has it. */
  trace: string | undefined
  allowance: BodyAllowance
  endpoint?: Pick<Endpoint, 'name' | 'family' | 'headers'>
  params?: Readonly<Record<string, string>>
  /** What the endpoint's `who` made of the caller. */
  asker?: unknown
  /** What the endpoint has answered. */
  answer?: Answer
}

/** What a request's body may take of the memory for all of them, and how fast it has to come. */
export type BodyAllowance = {
  readonly leastPace: LeastPace
  /** @throws Refusal unavailable where others need the room */
  took(bytes: number): void
  /** @param bytes that a body says to have. @throws Refusal unavailable where there is no room for them now */
  expects(bytes: number): void
}

export type Context = Koa.ParameterizedContext<State> & { matched?: readonly Route[] }
type Route = { readonly path: string | RegExp; readonly methods: readonly string[] }
export type Middleware = (ctx: Context, next: Koa.Next) => unknown
