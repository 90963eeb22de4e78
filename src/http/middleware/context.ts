import type Koa from 'koa'
import type { Answer } from '../kit/answer.ts'
import type { Endpoint } from '../kit/endpoint.ts'

/** What middlewares tell each other of a request. */
export type State = {
  requestId: string
  /** The trace that it is a part of, as `traceparent` has it. */
  trace: string | undefined
  endpoint?: Pick<Endpoint, 'name' | 'family' | 'headers'>
  params?: Readonly<Record<string, string>>
  /** What the endpoint's `who` made of the caller. */
  asker?: unknown
  /** What the endpoint has answered. */
  answer?: Answer
}
export type Context = Koa.ParameterizedContext<State> & { matched?: readonly Route[] }
type Route = { readonly path: string | RegExp; readonly methods: readonly string[] }
export type Middleware = (ctx: Context, next: Koa.Next) => unknown
