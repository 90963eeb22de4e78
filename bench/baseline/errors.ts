import { toHttpErrorDetails } from '../../src/http/kit/errors.ts'
import { VERSION } from '../../src/runtime/version.ts'
import type { BaselineContext } from './authenticate.ts'

/** Responds with the statuses and messages of the real service. */
export async function handleErrors(ctx: BaselineContext, next: () => Promise<unknown>): Promise<void> {
  ctx.set('X-App-Version', VERSION)
  try {
    await next()
  } catch (error) {
    const { status, faults } = toHttpErrorDetails(error)
    if (status >= 500) console.error(error)
    ctx.status = status
    ctx.body = { error: faults.map((fault) => fault.message), details: faults }
  }
}
