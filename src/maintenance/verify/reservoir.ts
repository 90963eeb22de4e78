import { randomInt } from 'node:crypto'
import type { Build, Stored } from '../../stores/ports/read-store.ts'

/** So many documents of a build, each with the same chance, in one walk (Vitter's algorithm R). */
export async function chosenOf(build: Pick<Build, 'walk'>, count: number): Promise<Stored[]> {
  const chosen: Stored[] = []
  let seen = 0
  for await (const page of build.walk([])) {
    for (const stored of page) {
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
