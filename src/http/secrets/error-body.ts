import type { Refused, ErrorBody } from '../kit/errors.ts'

const UNKNOWN = 'Unknown secret'

/** What goes with a 401. */
export const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="adamant secrets", charset="UTF-8"' } as const

/**
 * `{"message": "..."}` in the original's words, which clients match on; an unknown secret names the key of the path.
 * @param key of the path, where it has one
 */
export function secretsError({ status, faults }: Refused, key: string | undefined): object {
  if (status === 404) {
    return faults[0]?.message === UNKNOWN ? { secret_key: String(key), message: UNKNOWN } : { message: 'Not Found' }
  }
  if (status === 500) return { message: 'An unexpected error occurred :[' }
  return { message: faults.map(({ message }) => message).join('; ') }
}

export const secretsBody: ErrorBody = (ctx, answer) => {
  if (answer.status === 401) ctx.set(CHALLENGE)
  // Where no route matched, there are no parameters.
  const params = ctx.params as Readonly<Record<string, string>> | undefined
  ctx.body = secretsError(answer, params?.['key'])
}
