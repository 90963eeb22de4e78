import type { ServerResponse } from 'node:http'
import { Patience } from '../projections/engine/progress.ts'
import type { Context } from './middleware/context.ts'
import type { Answer } from './kit/answer.ts'
import type { Asked, Endpoint } from './kit/endpoint.ts'
import { setAnswer } from './middleware/answer.ts'
import type { Handler } from './routers.ts'

export type HandleOptions = {
  /** Milliseconds that a request waits for read models, in all. */
  readonly patience?: number | undefined
  /** Called with the response of a request that waits for something to happen. */
  readonly waits?: ((res: ServerResponse) => void) | undefined
}

/** Runs an endpoint: lets in who may ask, reads the body, runs, and makes what it returns Koa's answer. */
export function handle<Service>(
  endpoint: Endpoint<Service>,
  fixed: Readonly<Record<string, string>>,
  services: Service,
  options: HandleOptions,
): Handler {
  return async (ctx) => {
    const { state } = ctx
    state.endpoint = endpoint
    state.params = { ...fixed, ...ctx['params'] }
    ctx.set(endpoint.headers)
    setAnswer(ctx, await answerOf(endpoint, ctx, services, options))
  }
}

async function answerOf<Service>(
  endpoint: Endpoint<Service>,
  ctx: Context,
  services: Service,
  options: HandleOptions,
): Promise<Answer> {
  const { who, body } = endpoint
  const asked = new EndpointRequest(ctx, options)
  const admit = async () => {
    asked.asker = ctx.state.asker = await who.admit(asked, services)
  }
  // Credentials may stand in the body; otherwise nobody's body is read who may not ask.
  if (who.needsBody !== true) await admit()
  if (body === undefined) return endpoint.run(asked, services)
  asked.body = await body.read(ctx, asked, services)
  try {
    if (who.needsBody === true) await admit()
    return await endpoint.run(asked, services)
  } finally {
    await body.release?.(asked.body)
  }
}

/** What endpoints see of a request. A class, since V8 gives each object literal with getters a hidden class of its own. */
class EndpointRequest implements Asked<unknown, unknown> {
  readonly requestId: string
  readonly trace: string | undefined
  // What these hold is what the endpoint's own `who` and `body` made, for its own `run`.
  asker: unknown
  body: unknown
  #patience: Patience | undefined

  constructor(
    private readonly ctx: Context,
    private readonly options: HandleOptions,
  ) {
    this.requestId = ctx.state.requestId
    this.trace = ctx.state.trace
  }

  get method() {
    return this.ctx.method
  }
  get path() {
    return this.ctx.path
  }
  get target() {
    return this.ctx.originalUrl
  }
  get search() {
    return this.ctx.querystring
  }
  get params() {
    return this.ctx.state.params ?? {}
  }
  get headers() {
    return this.ctx.headers
  }
  get address() {
    return this.ctx.ip
  }
  get peer() {
    return this.ctx.req.socket.remoteAddress ?? ''
  }
  get patience() {
    return (this.#patience ??= new Patience(this.options.patience))
  }

  accepts(...types: string[]) {
    return this.ctx.accepts(...types)
  }

  cookie(name: string) {
    return this.ctx.cookies.get(name)
  }

  waits() {
    const { res } = this.ctx
    const over = new AbortController()
    if (res.destroyed || res.writableEnded) over.abort()
    else res.once('close', () => over.abort())
    this.options.waits?.(res)
    return over.signal
  }
}
