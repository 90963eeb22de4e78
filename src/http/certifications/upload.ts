import { Refusal } from '../../domain/refusal.ts'
import { networkOf } from '../../credentials/network.ts'
import { fromForm } from '../../domain/certification/input.ts'
import { FairTurns, type Waiter } from '../../fairness/fair-turns.ts'
import type { Files } from '../../stores/files.ts'
import { isJson, readJsonBody, refuseEncoding } from '../body.ts'
import type { Ctx, Step } from '../request.ts'
import { allowanceOf } from '../body-allowance.ts'
import { discardRest } from '../discard-rest.ts'
import { ChunkGarbage } from './chunk-garbage.ts'
import { FormReader } from './form-reader.ts'
import { FILE_LIMIT } from './pdf-check.ts'

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
    if (!/^multipart\/form-data\s*(?:;|$)/i.test(type)) {
      const message = `Content-Type must be multipart/form-data or application/json, got ${type.slice(0, 100)}`
      throw new Refusal('unsupported', message)
    }
    refuseEncoding(ctx)
    refuseLength(ctx)
    const { leastPace } = allowanceOf(ctx.req)
    const reader = new FormReader(ctx.req, files, { ...all, leastPace, waiter: waiterOf(ctx) })
    const { texts, file } = await reader.read().catch((error: unknown) => {
      discardRest(ctx.req)
      // Whoever sends nothing more does not read the rest of its own request either.
      if (error instanceof Refusal && error.kind === 'too-slow') ctx.set('Connection', 'close')
      throw error
    })
    ctx.state.upload = { input: fromForm(texts), file }
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

function refuseLength({ req }: Ctx): void {
  if (Number(req.headers['content-length'] ?? 0) <= FILE_LIMIT + AROUND) return
  discardRest(req)
  throw new Refusal('too-large', `file may have at most ${FILE_LIMIT} bytes`)
}
