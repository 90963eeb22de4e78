import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { failed, send, type Direct, type DirectAnswer } from '../direct.ts'
import type { LogError } from '../errors.ts'
import { originFor } from '../request.ts'
import { CHALLENGE, secretsError } from './error-body.ts'
import { givenBy } from './parameters.ts'
import { countAccount, countAddress } from './rate-limit.ts'
import { revealed } from './read.ts'
import { UNSTORED, type SecretsService } from './routes.ts'
import { demandSender, senderOf } from './sender.ts'
import { shared } from './share.ts'

/** A share, or the reveal of a key. */
type Asked = { readonly revealed: string | undefined }

const SHARES: ReadonlySet<string | undefined> = new Set(['/api/v1/share', '/api/v1/create'])
const REVEAL = /^\/api\/v1\/secret\/([0-9a-z]{50})$/
/** Most programs send nothing, and no type, to read a secret. */
const TYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/json',
  'application/x-www-form-urlencoded',
])

/** Shares and reveals without the framework. A request that is not plain is left to the routes. */
export function directSecrets(service: SecretsService, log: LogError): Direct {
  return (req, res) => {
    const asked = askedBy(req)
    const address = req.socket.remoteAddress
    if (asked === undefined || address === undefined || !isPlain(req.headers)) return false
    void answer(service, { req, address, asked }, res, log)
    return true
  }
}

function askedBy({ method, url = '' }: IncomingMessage): Asked | undefined {
  if (method !== 'POST') return undefined
  if (SHARES.has(url)) return { revealed: undefined }
  const key = REVEAL.exec(url)?.[1]
  return key === undefined ? undefined : { revealed: key }
}

/** Of proxies, only the framework knows whom to believe. */
function isPlain(headers: IncomingHttpHeaders): boolean {
  return (
    TYPES.has(headers['content-type']) &&
    headers['content-encoding'] === undefined &&
    headers['x-forwarded-for'] === undefined &&
    headers['x-request-id'] === undefined &&
    headers.expect === undefined &&
    headers.host !== undefined
  )
}

type Request = { readonly req: IncomingMessage; readonly address: string; readonly asked: Asked }

async function answer(service: SecretsService, request: Request, res: ServerResponse, log: LogError): Promise<void> {
  const requestId = randomUUID()
  try {
    const body = await answered(service, request, requestId)
    send(res, { status: 200, headers: UNSTORED, body: JSON.stringify(body) }, requestId)
  } catch (error) {
    send(res, refused(error, request, requestId, log), requestId)
  }
}

async function answered(service: SecretsService, { req, address, asked }: Request, requestId: string): Promise<object> {
  const { secrets, apiTokens, rateLimit, anonymous } = service
  countAddress(rateLimit, address)
  const sender = await senderOf(apiTokens, req.headers.authorization, address)
  countAccount(rateLimit, sender)
  if (asked.revealed === undefined && !anonymous) demandSender(sender)
  const given = await givenBy(req)
  if (asked.revealed === undefined) return shared(secrets, { given, sender, requestId })
  const origin = originFor(sender?.account, requestId)
  return revealed(secrets, { secretKey: asked.revealed, given, origin })
}

function refused(error: unknown, { asked }: Request, requestId: string, log: LogError): DirectAnswer {
  const answer = failed(error, requestId, log, (found) => secretsError(found, asked.revealed))
  return { ...answer, headers: { ...UNSTORED, ...answer.headers, ...(answer.status === 401 && CHALLENGE) } }
}
