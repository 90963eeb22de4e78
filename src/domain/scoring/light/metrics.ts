import { cone, look, wholeSky, type Beam } from './look.ts'
import { at, whole } from './numbers.ts'
import { CROWN, type Planes } from './planes.ts'
import type { Target } from './sampling.ts'
import { separation } from './separation.ts'
import type { Path } from './trace.ts'
import { radians } from '../solid/vector.ts'

/** How an evenly bright sky returns from a stone, as parts of what falls on the crown. Glare is not counted. */
export type LightReturn = {
  /** Weighted by the squared cosine of the exit angle (Hemphill et al., Gems & Gemology 34(3), 1998). */
  readonly weighted: number
  /** All that leaves upwards through the crown. */
  readonly full: number
}

export function lightReturn(target: Target, beam: Beam): LightReturn {
  let weighted = 0
  let full = 0
  look(target, beam, wholeSky, (path, share, eye) => {
    const returned = share * returnOf(path, target.planes, 1)
    weighted += returned * at(eye, 2) ** 2
    full += returned
  })
  return { weighted, full }
}

/** What an eye within 20° of the zenith sees. */
export type FaceUp = {
  /** Weighted return with a head of 12° around the zenith in the light's way. */
  readonly brightness: number
  /** Angle between F and C light times its energy, in degrees per incident unit. */
  readonly fire: number
}

const EYE = Math.sin(radians(20)) ** 2
const HEAD = Math.cos(radians(12))

/** @param dispersion the index for F light less that for C light */
export function faceUp(target: Target, beam: Beam, dispersion: number): FaceUp {
  let brightness = 0
  let fire = 0
  look(target, beam, cone(EYE), (path, share, eye) => {
    brightness += share * at(eye, 2) ** 2 * returnOf(path, target.planes, HEAD)
    fire += share * coloured(path, target.planes, beam.index)
  })
  return { brightness, fire: (fire * dispersion * 180) / Math.PI }
}

/** The part of an eye ray's light that comes from the sky through the crown, from no nearer to the zenith than `highest`. */
function returnOf(path: Path, { parts }: Planes, highest: number): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy === 0 || whole(parts, whole(path.planes, hit)) !== CROWN) continue
    const height = at(path.outside, 3 * hit + 2)
    if (height > 0 && height <= highest) sum += energy
  }
  return sum
}

function coloured(path: Path, planes: Planes, index: number): number {
  let sum = 0
  for (let hit = 1; hit < path.hits; hit++) {
    const energy = at(path.energy, hit)
    if (energy === 0 || whole(planes.parts, whole(path.planes, hit)) !== CROWN) continue
    if (at(path.outside, 3 * hit + 2) > 0) sum += energy * separation(path, planes, hit, index)
  }
  return sum
}
