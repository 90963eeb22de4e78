import type { IncomingMessage } from 'node:http'
import { VERSION } from '../../runtime/version.ts'
import { requestIdOf, type Asked } from './asked.ts'
import { CrossOrigin, type Origins } from './cross-origin.ts'

/** What is set up for all answers of one installation. */
export type EveryAnswerOptions = {
  /** Whether clients are told to come by https only: where the public address says so. */
  readonly https: boolean
  readonly origins: Origins
}

/** Seconds that a browser remembers to come by https: a year. Other names of the domain are not ours to speak for. */
const HTTPS_LIFE = 31_536_000

/** Headers of every answer there is, of those to what is no HTTP too; names and values one after another. */
export const fixedHeaders = (https: boolean): readonly string[] => [
  'X-App-Version',
  VERSION,
  'X-Content-Type-Options',
  'nosniff',
  ...(https ? ['Strict-Transport-Security', `max-age=${HTTPS_LIFE}`] : []),
]

/** Finds what a request's answer has whatever it is. */
export class EveryAnswer {
  readonly #fixed: readonly string[]
  readonly #crossOrigin: CrossOrigin

  constructor({ https, origins }: EveryAnswerOptions = { https: false, origins: new Set() }) {
    this.#fixed = fixedHeaders(https)
    this.#crossOrigin = new CrossOrigin(origins)
  }

  asked(req: IncomingMessage): Asked {
    const cors = this.#crossOrigin.headersFor(req, req.url ?? '')
    return {
      requestId: requestIdOf(req),
      headers: cors.length === 0 ? this.#fixed : [...this.#fixed, ...cors],
      accepts: req.headers['accept-encoding'],
    }
  }
}
