import type { Body } from './body.ts'
import type { Flat } from './flats.ts'
import { NoStone, rounded } from './no-stone.ts'
import { standing, type Stand } from './stand.ts'
import type { Facet, Part } from '../solid/facet.ts'
import { solidOf, type Solid } from '../solid/solid.ts'
import { dot, radians, unit, type Vector } from '../solid/vector.ts'

/** Millimetres, two decimals: seen from above, the longer and the shorter side; from the culet to the table. */
export type Size = { readonly length: number; readonly width: number; readonly depth: number }

/** A facet that leans less from upright is the girdle's. */
const UPRIGHT = Math.sin(radians(10))
/** The lowest facet is a culet where it is level to within this. */
const LEVEL = Math.cos(radians(2))
/** By how much the planes' volume may differ from the body's. */
const UNLIKE = 0.01

/**
 * A body as the tracer reads stones: its largest plane, the table, up; its longer side along y; one width wide; the origin
 * in the girdle's middle. Facets in nearly one plane are one.
 * @throws NoStone for a body without a pavilion, or one that its planes do not bound: light would be another stone's
 */
export function solidOfBody(body: Body): { solid: Solid; size: Size } {
  const [table, ...others] = body.flats.toSorted((a, b) => b.area - a.area)
  if (table === undefined) throw new NoStone('The body has no facets with an area')
  const stand = standing(body.vertices, table.normal)
  const solid = solidOf([
    { ...placed(table, stand), part: 'crown', name: 'table', normal: UP },
    ...named(others, stand),
  ])
  if (!solid.facets.some(({ part }) => part === 'pavilion'))
    throw new NoStone('The body has no pavilion: with its largest facet up, none of the others faces down')
  checkVolume(body.volume, solid.volume * stand.width ** 3)
  const size = { length: hundredths(stand.length), width: hundredths(stand.width), depth: hundredths(stand.depth) }
  return { solid, size }
}

const UP: Vector = [0, 0, 1]
const hundredths = (value: number): number => Math.round(value * 100) / 100

type Plane = { readonly normal: Vector; readonly offset: number }

function placed({ normal, offset }: Flat, { axes: [x, y, z], centre, width }: Stand): Plane {
  return {
    normal: unit([dot(normal, x), dot(normal, y), dot(normal, z)]),
    offset: (offset - dot(normal, centre)) / width,
  }
}

/** The planes beside the table, the largest of each part first. */
function named(flats: readonly Flat[], stand: Stand): Facet[] {
  const counts: Record<Part, number> = { crown: 0, girdle: 0, pavilion: 0, fold: 0 }
  return flats.map((flat) => {
    const plane = placed(flat, stand)
    const part = partOf(plane.normal)
    if (plane.normal[2] < -LEVEL) return { ...plane, part, name: 'culet' }
    counts[part] += 1
    return { ...plane, part, name: `${part} ${counts[part]}` }
  })
}

function partOf([, , z]: Vector): Part {
  if (Math.abs(z) < UPRIGHT) return 'girdle'
  return z > 0 ? 'crown' : 'pavilion'
}

function checkVolume(facets: number, planes: number): void {
  if (Math.abs(planes / facets - 1) <= UNLIKE) return
  throw new NoStone(
    `The body is not convex: its facets bound ${rounded(facets)} mm³, their planes ${rounded(planes)} mm³`,
  )
}
