import type { IncomingMessage } from 'node:http'
import type { Bearer } from '../kit/authenticate.ts'
import { accountOf, atOnce, send, type Direct } from '../kit/direct.ts'
import { parseListQuery } from './filters.ts'
import { answerList, answerOne, type DiamondReads, type ReadAnswer } from './read.ts'
import type { ApiVersion } from '../../domain/diamond/field.ts'

/** One diamond, or the list with what is asked of it. Percent-encoding and more than 15 digits are for the framework. */
const READ = /^(\/(v[34])\/diamond)(?:\/([1-9]\d{0,14}))?(?:\?([^#]*))?$/

/**
 * Answers the reads that make up most of the traffic without the framework. The rules are those of read.ts and
 * authenticate.ts; whatever is not plain (no good token, a fault, a store that answers later) is left to the routes, which
 * do it all and say what is wrong.
 */
export function directReads(reads: DiamondReads, bearer: Bearer): Direct {
  return (req, res, asked) => {
    if (req.method !== 'GET' || !reads.queries.answersAtOnce) return false
    const match = READ.exec(req.url ?? '')
    if (match === null) return false
    const account = accountOf(req, bearer)
    const answer = account === undefined ? undefined : answerNow(reads, req, match, account)
    if (answer === undefined) return false
    send(res, answer, asked)
    return true
  }
}

/** Undefined for what needs time, and for every refusal: the route finds it again and answers it. */
function answerNow(
  reads: DiamondReads,
  req: IncomingMessage,
  [, path = '', version, id, search = '']: RegExpExecArray,
  account: number,
): ReadAnswer | undefined {
  try {
    if (id !== undefined) {
      const found = atOnce(reads.queries.one(version as ApiVersion, Number(id)))
      return found && answerOne(reads, { id: Number(id), account }, found, req.headers['if-none-match'])
    }
    const query = parseListQuery(version as ApiVersion, search)
    const list = atOnce(reads.queries.list(version as ApiVersion, account, query.filter, query.page))
    return list && answerList(reads, { path, search, query }, list)
  } catch {
    return undefined
  }
}
