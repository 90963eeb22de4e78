import { Refusal, type RefusalKind } from '../../../domain/refusal.ts'

/**
 * Counts the parameters of a query by what stands between them, before any is decoded: a million of one letter each would
 * take seconds.
 * @throws Refusal of that kind
 */
export function refuseMany(text: string, most: number, kind: RefusalKind = 'malformed'): void {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count > most) throw tooMany(most, kind)
  }
}

export const tooMany = (most: number, kind: RefusalKind = 'malformed') =>
  new Refusal(kind, `A request may have at most ${most.toLocaleString('en')} parameters`)
