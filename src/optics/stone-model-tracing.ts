import { roundDecimals } from './rounding.ts'
import { toConvexBody } from './mesh/convex-body.ts'
import { solidOfBody } from './mesh/solid-of-body.ts'
import { measuredDeviation, type SymmetryFold } from './mesh/symmetry.ts'
import { traceSolid, type TracedCut } from './cut/trace-cut.ts'
import { caratsOf } from './light/diamond-material.ts'
import type { Solid } from './solid/solid.ts'
import type { MeshFormat } from './mesh/mesh.ts'
import { readMesh } from './mesh/read-mesh.ts'

/** Properties computed from a 3D file. The longer side as seen from above is the length. */
export type StoneModelProperties = {
  readonly format: MeshFormat
  /** Number of facets in the file. */
  readonly facets: number
  /** Number of planes used for ray tracing, and the angle in degrees within which neighbouring facets were merged into one. */
  readonly planes: { readonly count: number; readonly within: number }
  /** Weight in carats, computed from the volume. */
  readonly carat: number
  /** Millimetres. */
  readonly measurements: { readonly length: number; readonly width: number; readonly depth: number }
}

/** @throws InvalidMesh */
export function inspectModel(bytes: Uint8Array): StoneModelProperties {
  const { format, mesh } = readMesh(bytes)
  const body = toConvexBody(mesh)
  const { size } = solidOfBody(body)
  const planes = { count: body.regions.length, within: body.angle }
  return {
    format,
    facets: mesh.facets.length,
    planes,
    carat: roundDecimals(caratsOf(body.volume), 3),
    measurements: size,
  }
}

/** Converts a 3D file to the tracer's format. @throws InvalidMesh */
export const solidOfModel = (bytes: Uint8Array): Solid => solidOfBody(toConvexBody(readMesh(bytes).mesh)).solid

/**
 * Traces the stone in a 3D file; takes seconds.
 * @param fold nominal symmetry; undefined if unknown: the stone then gets no symmetry deviation
 * @throws InvalidMesh
 */
export function traceModel(bytes: Uint8Array, fold: SymmetryFold | undefined): TracedCut {
  const solid = solidOfModel(bytes)
  return traceSolid(solid, fold === undefined ? null : measuredDeviation(solid, fold))
}
