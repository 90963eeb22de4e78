import { Refusal } from '../../../domain/refusal.ts'

/**
 * Counts the parameters of a query by what stands between them, before any is decoded: a million of one letter each would
 * take seconds.
 * @throws Refusal invalid
 */
export function refuseMany(text: string, most: number): void {
  let count = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++count <= most) continue
    throw new Refusal('invalid', `A request may have at most ${most.toLocaleString('en')} parameters`)
  }
}
