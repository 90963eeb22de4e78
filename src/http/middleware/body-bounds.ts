import type { Middleware } from './context.ts'
import type { Bodies } from '../kit/body.ts'

/** Counts the bodies of all requests together, so that they fit into memory. */
export function bodyBounds(bodies: Bodies | undefined): Middleware {
  return (ctx, next) => {
    bodies?.admit(ctx.req, ctx.res)
    return next()
  }
}
