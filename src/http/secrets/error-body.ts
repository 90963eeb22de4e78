import type { ErrorBody } from '../errors.ts'

const UNKNOWN = 'Unknown secret'

/** `{"message": "..."}` in the original's words, which clients match on; an unknown secret names the key of the path. */
export const secretsBody: ErrorBody = (ctx, { status, faults }) => {
  const [fault] = faults
  if (status === 404 && fault?.message === UNKNOWN) {
    ctx.body = { secret_key: String(ctx.params['key']), message: UNKNOWN }
  } else if (status === 404) ctx.body = { message: 'Not Found' }
  else if (status === 500) ctx.body = { message: 'An unexpected error occurred :[' }
  else ctx.body = { message: faults.map(({ message }) => message).join('; ') }
}
