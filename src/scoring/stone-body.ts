import type { StoneShape } from '../domain/diamond/stone-model.ts'
import { decimals } from '../domain/scoring/members.ts'
import { bodyOf } from '../domain/scoring/mesh/body.ts'
import { solidOfBody } from '../domain/scoring/mesh/solid-of-body.ts'
import { deviationOf, type Fold } from '../domain/scoring/mesh/symmetry.ts'
import { traceSolid, type TracedCut } from '../domain/scoring/cut/trace-cut.ts'
import { caratsOf } from '../domain/scoring/light/optics.ts'
import type { Solid } from '../domain/scoring/solid/solid.ts'
import { readMesh } from './meshes/read-mesh.ts'

/** What a 3D file says of its stone. @throws UnreadableMesh, NoStone */
export function inspectModel(bytes: Uint8Array): StoneShape {
  const { format, mesh } = readMesh(bytes)
  const body = bodyOf(mesh)
  const { size } = solidOfBody(body)
  const planes = { count: body.flats.length, within: body.angle }
  return { format, facets: mesh.facets.length, planes, carat: decimals(caratsOf(body.volume), 3), measurements: size }
}

/** The stone in a 3D file, as the tracer reads stones. @throws UnreadableMesh, NoStone */
export const solidOfModel = (bytes: Uint8Array): Solid => solidOfBody(bodyOf(readMesh(bytes).mesh)).solid

/**
 * Traces the stone in a 3D file: seconds.
 * @param fold how its facets should stand; undefined where nobody knows, and so nobody how exactly they do
 * @throws UnreadableMesh, NoStone
 */
export function traceModel(bytes: Uint8Array, fold: Fold | undefined): TracedCut {
  const solid = solidOfModel(bytes)
  return traceSolid(solid, fold === undefined ? null : deviationOf(solid, fold), 1)
}
