import type { ServerResponse } from 'node:http'
import { Patience } from '../projections/engine/patience.ts'
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
  const asked = askedOf(ctx, options)
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

type MutableAsked = Asked<unknown, unknown> & { asker: unknown; body: unknown }

/** What endpoints see of a request. */
function askedOf(ctx: Context, options: HandleOptions): MutableAsked {
  const { state, req, res } = ctx
  let patience: Patience | undefined
  return {
    requestId: state.requestId,
    trace: state.trace,
    method: ctx.method,
    path: ctx.path,
    target: ctx.originalUrl,
    search: ctx.querystring,
    params: state.params ?? {},
    headers: ctx.headers,
    accepts: (...types) => ctx.accepts(...types),
    cookie: (name) => ctx.cookies.get(name),
    // What they hold is what the endpoint's own `who` and `body` made, for its own `run`.
    asker: undefined,
    body: undefined,
    get address() {
      return ctx.ip
    },
    get peer() {
      return req.socket.remoteAddress ?? ''
    },
    get patience() {
      return (patience ??= new Patience(options.patience))
    },
    waits() {
      const over = new AbortController()
      if (res.destroyed || res.writableEnded) over.abort()
      else res.once('close', () => over.abort())
      options.waits?.(res)
      return over.signal
    },
  }
}
