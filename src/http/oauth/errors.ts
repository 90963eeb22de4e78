import { z } from 'zod'
import { ClientRefused } from '../../commands/clients/clients.ts'
import { Refusal, type RefusalKind } from '../../domain/refusal.ts'
import { GrantRefused } from '../../domain/session/session.ts'
import { answer } from '../kit/answer.ts'
import type { Family } from '../kit/endpoint.ts'

/** RFC 6749, section 5.2. Wrong grants and clients have their own classes, in the domain and the commands. */
export type OAuthCode = 'invalid_request' | 'unsupported_grant_type' | 'invalid_scope'

export class OAuthError extends Refusal {
  constructor(
    readonly code: OAuthCode,
    message: string,
  ) {
    super('malformed', message)
  }
}

/** RFC 6749, section 5.1; errors as well. */
export const NEVER_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }

/** The faults that keep their status here; every other fault of the caller is 400. */
const KEPT: ReadonlySet<RefusalKind> = new Set(['unauthenticated', 'missing', 'not-allowed', 'too-many', 'unavailable'])

const TokenError = z
  .object({
    error: z.string().describe('A code of RFC 6749, section 5.2, such as `invalid_grant`.'),
    error_description: z.string(),
  })
  .meta({ id: 'TokenError' })

/** `{"error": "invalid_grant", "error_description": "..."}` */
export const oauth: Family = {
  name: 'oauth',
  prefixes: ['/api/oauth'],
  refusals: { media: 'application/json', schema: TokenError },
  refusal({ status, faults }, error) {
    const body = {
      error: codeOf(error, status),
      error_description: described(faults.map(({ message }) => message).join('; ')),
    }
    const isKept = !(error instanceof Refusal) || KEPT.has(error.kind)
    return answer(isKept ? status : 400, body, NEVER_STORED)
  },
}

function codeOf(error: unknown, status: number): string {
  if (error instanceof OAuthError) return error.code
  if (error instanceof GrantRefused) return 'invalid_grant'
  if (error instanceof ClientRefused) return 'invalid_client'
  if (status === 429 || status === 503) return 'temporarily_unavailable'
  return status >= 500 ? 'server_error' : 'invalid_request'
}

/** Only the characters that RFC 6749, section 5.2, has for a description. */
const described = (text: string) => text.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?')
