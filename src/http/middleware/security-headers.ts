import type { Middleware } from './context.ts'
import { fixedHeaders } from '../kit/fixed-headers.ts'

/** Sets what every answer has: the version, `nosniff`, and HSTS where the public address is https. */
export function securityHeaders({ https }: { readonly https: boolean }): Middleware {
  const headers = fixedHeaders(https)
  return (ctx, next) => {
    ctx.set(headers)
    return next()
  }
}
