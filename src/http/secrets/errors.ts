import { z } from 'zod'
import { answer, type Headers } from '../kit/answer.ts'
import type { Family, Refused } from '../kit/endpoint.ts'

const UNKNOWN = 'Unknown secret'

/** What goes with a 401. */
const CHALLENGE: Headers = { 'WWW-Authenticate': 'Basic realm="adamant secrets", charset="UTF-8"' }
const NONE: Headers = {}

const SecretsError = z
  .object({
    message: z.string(),
    secret_key: z.string().optional().describe('The key of the path, where it is unknown.'),
  })
  .meta({ id: 'SecretsError' })

/** `{"message": "..."}` in the original's words, which clients match on. */
export const secretsFamily: Family = {
  name: 'secrets',
  prefixes: ['/api/v1'],
  refusals: { media: 'application/json', schema: SecretsError },
  refusal: (refused, _error, { params }) =>
    answer(refused.status, bodyOf(refused, params['key']), refused.status === 401 ? CHALLENGE : NONE),
}

/** An unknown secret names the key of the path. */
function bodyOf({ status, faults }: Refused, key: string | undefined): object {
  if (status === 404) {
    return faults[0]?.message === UNKNOWN ? { secret_key: String(key), message: UNKNOWN } : { message: 'Not Found' }
  }
  if (status === 500) return { message: 'An unexpected error occurred :[' }
  return { message: faults.map(({ message }) => message).join('; ') }
}
