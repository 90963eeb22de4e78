import { nearMiss } from '../../../domain/dictionaries/nearest.ts'
import type { Fault } from '../../../domain/refusal.ts'

/**
 * A fault for each name that was meant for a known one and is none: it differs by case, or by a letter or two. What resembles
 * none is ignored, since it may be of use to somebody between.
 */
export function mistypedAmong(names: Iterable<string>, known: readonly string[]): Fault[] {
  const faults: Fault[] = []
  for (const name of names) {
    const meant = known.includes(name) ? undefined : nearMiss(name, known)
    if (meant !== undefined) faults.push({ pointer: name, message: `${name} is no parameter; did you mean ${meant}?` })
  }
  return faults
}
