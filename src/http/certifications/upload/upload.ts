import { Refusal } from '../../../domain/refusal.ts'
import { networkOf } from '../../../credentials/network.ts'
import { FairTurns, type Waiter } from '../../../runtime/fairness/fair-turns.ts'
import type { Files } from '../../../stores/ports/files.ts'
import { isJson, readJsonBody, refuseEncoding } from '../../kit/body.ts'
import type { Ctx, Step } from '../../kit/request.ts'
import { allowanceOf } from '../../kit/body-allowance.ts'
import { discardRest } from '../../kit/discard-rest.ts'
import { ChunkGarbage } from './chunk-garbage.ts'
import { FormReader } from './form-reader.ts'
import { FILE_LIMIT, tooLarge } from './pdf-check.ts'
import { isUrlencoded, readTexts } from './texts-form.ts'
import { fromForm, readCertification } from '../../../representations/certification.ts'

export type UploadOptions = {
  readonly files: Files
  /** Milliseconds without a byte after which a client counts as gone; 30,000 unless told. */
  readonly stall?: number
}

/** Bytes that a form may have around its file: texts, headers, boundaries. */
const AROUND = 64 * 1024

/** Forms that are read at a time, as long as their clients send: one alone already sends as fast as a disk writes. */
const AT_ONCE = 8

/** Bytes of uploads between two collections of the chunks that they have left behind. */
const GARBAGE = 8 * 1024 * 1024

/**
 * Reads a form as a stream, its file straight into the files' temporary place, or a JSON body, into
 * `ctx.state.upload`. Whatever goes wrong later in the request, a file that was not kept goes.
 */
export function readUpload({ files, stall = 30_000 }: UploadOptions): Step {
  const all = { limit: FILE_LIMIT + AROUND, stall, turns: new FairTurns(AT_ONCE), garbage: new ChunkGarbage(GARBAGE) }
  return async (ctx, next) => {
    const type = ctx.req.headers['content-type']
    if (type === undefined || isJson(type)) return readJson(ctx, next)
    if (isUrlencoded(type)) return readTexts(ctx, next)
    if (!/^multipart\/form-data\s*(?:;|$)/i.test(type)) {
      const right = 'multipart/form-data, application/json or application/x-www-form-urlencoded'
      throw new Refusal('unsupported', `Content-Type must be ${right}, got ${type.slice(0, 100)}`)
    }
    refuseEncoding(ctx.req)
    refuseLength(ctx)
    const { leastPace } = allowanceOf(ctx.req)
    const reader = new FormReader(ctx.req, files, { ...all, leastPace, waiter: waiterOf(ctx) })
    const { texts, file, refused } = await reader.read().catch((error: unknown) => {
      discardRest(ctx.req)
      // Whoever sends nothing more does not read the rest of its own request either.
      if (error instanceof Refusal && error.kind === 'too-slow') ctx.set('Connection', 'close')
      throw error instanceof Refusal && error.kind === 'too-large' ? withTextFaults(error, reader.texts) : error
    })
    ctx.state.upload = { input: fromForm(texts), file, refused }
    try {
      return await next()
    } finally {
      await file?.incoming.discard()
    }
  }
}

/** Turns go round among addresses, and among the accounts at each. */
const waiterOf = (ctx: Ctx): Waiter => ({
  names: [`address ${networkOf(ctx.ip)}`, `account ${ctx.state.caller?.account}`],
  first: false,
})

const readJson: Step = (ctx, next) =>
  readJsonBody(ctx, () => {
    ctx.state.upload = { input: ctx.state.body, file: undefined }
    return next()
  })

/** A form that is not read to its end: of its texts those are judged that have come. */
function withTextFaults({ kind, faults }: Refusal, texts: ReadonlyMap<string, string>): Refusal {
  const wrong = readCertification(fromForm(texts)).faults ?? []
  return new Refusal(kind, [...faults, ...wrong.filter(({ pointer }) => texts.has(pointer?.slice(1) ?? ''))])
}

function refuseLength({ req }: Ctx): void {
  if (Number(req.headers['content-length'] ?? 0) <= FILE_LIMIT + AROUND) return
  discardRest(req)
  throw tooLarge()
}
