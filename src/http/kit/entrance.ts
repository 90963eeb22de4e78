import type { RequestListener } from 'node:http'
import { keepAsked } from './asked.ts'
import type { Bodies } from './body-allowance.ts'
import type { Direct } from './direct.ts'
import type { EveryAnswer } from './every-answer.ts'
import { refuseLongHeaders } from './header-limit.ts'
import { hostFault } from './host.ts'
import { plainPath } from './plain-path.ts'

/**
 * Where every request comes in, whichever way it is answered: its path is made plain, its id and the headers of its
 * answer are found, and what is not readable as a request goes to the routes, which say so.
 * @param bodies counts those of all requests together
 * @param directs ways to an answer that are tried first, in this order
 */
export function entrance(
  everyAnswer: EveryAnswer,
  directs: readonly Direct[],
  routes: RequestListener,
  bodies?: Bodies,
): RequestListener {
  return (req, res) => {
    req.url = plainPath(req.url ?? '')
    const asked = everyAnswer.asked(req)
    keepAsked(req, asked)
    if (refuseLongHeaders(req, res, asked)) return
    bodies?.admit(req, res)
    if (hostFault(req) === undefined && directs.some((direct) => direct(req, res, asked))) return
    routes(req, res)
  }
}
