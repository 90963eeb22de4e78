import { look, wholeSky, type Beam } from './look.ts'
import { at } from './numbers.ts'
import type { Planes } from './planes.ts'
import type { Target } from './sampling.ts'
import { isFromSky, type Path } from './trace.ts'

/**
 * What of an evenly bright sky's light on the crown comes back through it, weighted by the squared cosine of the exit angle
 * (Hemphill et al., Gems & Gemology 34(3), 1998). Glare is not counted.
 */
export function weightedLightReturn(target: Target, beam: Beam): number {
  let weighted = 0
  look(target, beam, wholeSky, (path, share, eye) => {
    weighted += share * returnOf(path, target.planes) * at(eye, 2) ** 2
  })
  return weighted
}

/** The part of an eye ray's light that comes from the sky through the crown. */
function returnOf(path: Path, planes: Planes): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy !== 0 && isFromSky(path, planes, hit)) sum += energy
  }
  return sum
}
