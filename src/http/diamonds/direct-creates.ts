import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createDiamonds } from '../../commands/diamonds/create-diamonds.ts'
import type { NewDiamond } from '../../domain/diamond/fields.ts'
import { PRIVATE } from '../kit/app.ts'
import type { Asked } from '../kit/asked.ts'
import type { Bearer } from '../kit/authenticate.ts'
import { keepBody, parseJsonBody, readBody } from '../kit/body.ts'
import { accountOf, failed, send, type Direct, type DirectAnswer } from '../kit/direct.ts'
import { platformError, type LogError } from '../kit/errors.ts'
import { originFor } from '../kit/request.ts'
import { PENDING } from '../kit/consistency.ts'
import { isReached } from './answer.ts'
import { bornAnswer } from './create.ts'
import type { DiamondService } from './routes.ts'
import { readNewDiamond } from '../../representations/diamond/read.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

/** Bytes: a diamond has a few hundred. What is longer goes the usual way. */
const SIZE_MAX = 16 * 1024

const VERSIONS: ReadonlyMap<string | undefined, ApiVersion> = new Map([
  ['/v3/diamond', 'v3'],
  ['/v4/diamond', 'v4'],
])

type Wish = {
  readonly version: ApiVersion
  readonly account: number
  readonly entry: NewDiamond
  readonly asked: Asked
}

/**
 * Creates single diamonds without the framework. A request that is not plain is left to the routes, and so is one whose
 * body turns out to be no diamond: they read the kept body again and say what is wrong with it.
 * @param routes answers what was left to it
 */
export function directCreates(service: DiamondService, bearer: Bearer, routes: RequestListener, log: LogError): Direct {
  async function answer(req: IncomingMessage, res: ServerResponse, { version, account, asked }: Omit<Wish, 'entry'>) {
    let bytes: Buffer
    try {
      bytes = await readBody(req, SIZE_MAX)
    } catch (error) {
      return send(res, refused(error, asked, log), asked)
    }
    const entry = entryOf(version, bytes)
    if (entry !== undefined) return create(service, { version, account, entry, asked }, res, log)
    keepBody(req, bytes)
    routes(req, res)
  }

  return (req, res, asked) => {
    const version = VERSIONS.get(req.url)
    if (req.method !== 'POST' || version === undefined || !isPlain(req.headers)) return false
    const account = accountOf(req, bearer)
    if (account === undefined) return false
    answer(req, res, { version, account, asked }).catch((error: unknown) => {
      // The answer itself failed: the log is told, and the client by the end of its connection.
      refused(error, asked, log)
      res.destroy()
    })
    return true
  }
}

function isPlain(headers: IncomingHttpHeaders): boolean {
  return (
    headers['content-type'] === 'application/json' &&
    Number(headers['content-length']) <= SIZE_MAX &&
    headers['content-encoding'] === undefined &&
    headers['idempotency-key'] === undefined &&
    headers.expect === undefined
  )
}

function entryOf(version: ApiVersion, bytes: Buffer): NewDiamond | undefined {
  try {
    return readNewDiamond(version, parseJsonBody(bytes), '').value
  } catch {
    return undefined
  }
}

async function create(service: DiamondService, wish: Wish, res: ServerResponse, log: LogError): Promise<void> {
  let answer: DirectAnswer
  try {
    answer = await created(service, wish)
  } catch (error) {
    answer = refused(error, wish.asked, log)
  }
  send(res, answer, wish.asked)
}

function refused(error: unknown, { requestId }: Asked, log: LogError): DirectAnswer {
  const answer = failed(error, requestId, log, ({ faults }) => platformError(faults, requestId))
  return { ...answer, headers: { ...PRIVATE, ...answer.headers } }
}

async function created(
  { inventory, queries, links }: DiamondService,
  { version, account, entry, asked }: Wish,
): Promise<DirectAnswer> {
  const origin = originFor(account, asked.requestId)
  const { created, position } = await createDiamonds(inventory, { owner: account, entries: [entry], origin })
  const current = await isReached(queries, position)
  const [born] = created
  if (born === undefined) throw new Error('nothing was created')
  const answer = bornAnswer(version, links, born)
  return current ? answer : { ...answer, headers: { ...answer.headers, ...PENDING } }
}
