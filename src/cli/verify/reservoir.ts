import { randomInt } from 'node:crypto'
import type { Build, Stored } from '../../stores/ports/read-store.ts'

/**
 * So many documents of a build, each with the same chance, in one walk (Vitter's algorithm R). Counts and the like, whose ids are
 * numbers below 1, are made of whole accounts, and are left out.
 */
export async function chosenOf(build: Pick<Build, 'walk'>, count: number): Promise<Stored[]> {
  const chosen: Stored[] = []
  let seen = 0
  for await (const page of build.walk([])) {
    for (const stored of page) {
      const { id } = stored.document
      if (typeof id === 'number' && id < 1) continue
      seen++
      if (chosen.length < count) chosen.push(stored)
      else {
        const place = randomInt(seen)
        if (place < count) chosen[place] = stored
      }
    }
  }
  return chosen
}
