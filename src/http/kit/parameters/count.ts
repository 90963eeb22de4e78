import { Refusal, type RefusalKind } from '../../../domain/refusal.ts'

/** Parameters of a query, a form or a JSON object: no request of the token server or the secrets API has ten. */
export const PARAMETERS_MAX = 100

/**
 * Counts the parameters of a query or a form by what stands between them, before any is decoded: a million of one
 * letter each would take seconds.
 * @param kind that of the refusal
 * @throws Refusal
 */
export function refuseMany(text: string, most: number = PARAMETERS_MAX, kind: RefusalKind = 'malformed'): void {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count > most) throw tooMany(most, kind)
  }
}

export const tooMany = (most: number, kind: RefusalKind = 'malformed') =>
  new Refusal(kind, `A request may have at most ${most.toLocaleString('en')} parameters`)
