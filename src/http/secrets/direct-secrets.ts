import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Asked } from '../kit/asked.ts'
import { failed, send, type Direct, type DirectAnswer } from '../kit/direct.ts'
import type { LogError } from '../kit/errors.ts'
import { originFor } from '../kit/request.ts'
import { CHALLENGE, secretsError } from './error-body.ts'
import { PassphraseParameters, ShareParameters } from './parameters.ts'
import { countAccount, countAddress } from './rate-limit.ts'
import { revealed } from './read.ts'
import { UNSTORED, type SecretsService } from './routes.ts'
import { demandSender, senderOf } from './sender.ts'
import { shared } from './share.ts'

type DirectService = Omit<SecretsService, 'sites'>

/** A share, or the reveal of a key. */
type Wanted = { readonly revealed: string | undefined }

const SHARES: ReadonlySet<string | undefined> = new Set(['/api/v1/share', '/api/v1/create'])
const REVEAL = /^\/api\/v1\/secret\/([0-9a-z]{50})$/
/** Most programs send nothing, and no type, to read a secret. */
const TYPES: ReadonlySet<string | undefined> = new Set([
  undefined,
  'application/json',
  'application/x-www-form-urlencoded',
])

/** Shares and reveals without the framework. A request that is not plain is left to the routes. */
export function directSecrets(service: DirectService, log: LogError): Direct {
  return (req, res, asked) => {
    const wanted = wantedBy(req)
    const address = req.socket.remoteAddress
    if (wanted === undefined || address === undefined || !isPlain(req.headers)) return false
    void answer(service, { req, address, wanted, asked }, res, log)
    return true
  }
}

function wantedBy({ method, url = '' }: IncomingMessage): Wanted | undefined {
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
    // Whether a browser's page may post here is for the routes to say.
    headers.origin === undefined &&
    headers['sec-fetch-site'] === undefined &&
    headers.expect === undefined
  )
}

type Request = {
  readonly req: IncomingMessage
  readonly address: string
  readonly wanted: Wanted
  readonly asked: Asked
}

async function answer(service: DirectService, request: Request, res: ServerResponse, log: LogError): Promise<void> {
  try {
    const body = await answered(service, request)
    send(res, { status: 200, headers: UNSTORED, body: JSON.stringify(body) }, request.asked)
  } catch (error) {
    send(res, refused(error, request, log), request.asked)
  }
}

async function answered(service: DirectService, { req, address, wanted, asked }: Request): Promise<object> {
  const { requestId } = asked
  const { secrets, apiTokens, rateLimit, anonymous } = service
  countAddress(rateLimit, address)
  const sender = await senderOf(apiTokens, req.headers.authorization, address)
  countAccount(rateLimit, sender)
  if (wanted.revealed === undefined && !anonymous) demandSender(sender)
  if (wanted.revealed === undefined) {
    return shared(service, { given: await ShareParameters.read(req, ''), sender, address, requestId })
  }
  const { passphrase } = await PassphraseParameters.read(req, '')
  const origin = originFor(sender?.account, requestId)
  return revealed(secrets, { secretKey: wanted.revealed, passphrase, account: sender?.account, address, origin })
}

function refused(error: unknown, { wanted, asked }: Request, log: LogError): DirectAnswer {
  const answer = failed(error, asked.requestId, log, (found) => secretsError(found, wanted.revealed))
  return { ...answer, headers: { ...UNSTORED, ...answer.headers, ...(answer.status === 401 && CHALLENGE) } }
}
