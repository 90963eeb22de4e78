import type { Mesh } from '../../../src/optics/mesh/mesh.ts'
import { weldVertices } from '../../../src/optics/mesh/weld.ts'
import type { MeshFormat } from '../../../src/optics/mesh/mesh.ts'
import type { Solid } from '../../../src/optics/solid/solid.ts'
import { add, cross, dot, scale, subtract, unit, type Vector } from '../../../src/optics/solid/facet.ts'

/** A stone that lies on its side, away from the origin. */
const AXES = turnedAxes([0.36, -0.48, 0.8], [1, 0.2, -0.3])
const SHIFT: Vector = [12.5, -3.25, 40]

function turnedAxes(up: Vector, near: Vector): readonly [Vector, Vector, Vector] {
  const along = unit(cross(up, near))
  return [cross(along, up), along, up]
}

export const rotateAndShift = ([x, y, z]: Vector): Vector =>
  add(SHIFT, add(scale(AXES[0], x), add(scale(AXES[1], y), scale(AXES[2], z))))

/** A solid's faces in millimetres, counter-clockwise from outside; both halves of a half stone. */
export function meshOf({ faces, halves }: Solid, width: number): Mesh {
  const polygons = faces
    .filter(({ facet }) => facet.part !== 'fold')
    .map(({ facet, corners }) => outwards(facet.normal, corners).map((corner) => scale(corner, width)))
  const both = halves === 1 ? polygons : [...polygons, ...polygons.map(mirror)]
  return weldVertices({ vertices: both.flat(), facets: numbered(both) })
}

const mirror = (polygon: readonly Vector[]): Vector[] => polygon.map(([x, y, z]): Vector => [-x, y, z]).reverse()

function outwards(normal: Vector, corners: readonly Vector[]): readonly Vector[] {
  const [first = normal, ...others] = corners
  const area = others
    .slice(1)
    .map((corner, index) => cross(subtract(others[index] ?? first, first), subtract(corner, first)))
    .reduce(add, [0, 0, 0])
  return dot(area, normal) < 0 ? corners.toReversed() : corners
}

function numbered(polygons: readonly (readonly Vector[])[]): number[][] {
  let count = 0
  return polygons.map((polygon) => polygon.map(() => count++))
}

export const transformed = ({ vertices, facets }: Mesh, place: (point: Vector) => Vector): Mesh => ({
  vertices: vertices.map(place),
  facets,
})

export const triangulated = ({ vertices, facets }: Mesh): Mesh => ({
  vertices,
  facets: facets.flatMap(([first = 0, ...others]) =>
    others.slice(1).map((corner, index) => [first, others[index] ?? first, corner]),
  ),
})

export type FileEncoding = 'OFF' | 'text STL' | 'binary STL' | 'OBJ'
export const fileEncodings = ['OFF', 'text STL', 'binary STL', 'OBJ'] as const
export const formatOf = (writing: FileEncoding): MeshFormat =>
  writing === 'OFF' || writing === 'OBJ' ? writing : 'STL'

/** The bytes of a mesh file in millimetres. @param decimals in text formats */
export function toMeshFile(mesh: Mesh, writing: FileEncoding, decimals: number): Uint8Array {
  const point = (vertex: Vector) => vertex.map((value) => value.toFixed(decimals)).join(' ')
  switch (writing) {
    case 'OFF':
      return text([
        'OFF',
        `${mesh.vertices.length} ${mesh.facets.length} 0`,
        ...mesh.vertices.map(point),
        ...mesh.facets.map((facet) => `${facet.length} ${facet.join(' ')}`),
      ])
    case 'OBJ':
      return text([
        'o stone',
        ...mesh.vertices.map((vertex) => `v ${point(vertex)}`),
        ...mesh.facets.map((facet) => `f ${facet.map((corner) => corner + 1).join(' ')}`),
      ])
    case 'text STL':
      return text([
        'solid stone',
        ...trianglesOf(mesh).flatMap((triangle) => loop(triangle.map(point))),
        'endsolid stone',
      ])
    case 'binary STL':
      return binary(trianglesOf(mesh))
  }
}

export const text = (lines: readonly string[]): Uint8Array => new TextEncoder().encode(`${lines.join('\n')}\n`)

const loop = (corners: readonly string[]): string[] => [
  'facet normal 0 0 0',
  'outer loop',
  ...corners.map((corner) => `vertex ${corner}`),
  'endloop',
  'endfacet',
]

const trianglesOf = (mesh: Mesh): Vector[][] =>
  triangulated(mesh).facets.map((facet) => facet.map((corner) => mesh.vertices[corner] ?? [0, 0, 0]))

function binary(triangles: readonly (readonly Vector[])[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(84 + 50 * triangles.length))
  new TextEncoder().encodeInto('solid, as some start', new Uint8Array(view.buffer))
  view.setUint32(80, triangles.length, true)
  for (const [index, triangle] of triangles.entries()) {
    const from = 84 + 50 * index + 12
    for (const [place, value] of triangle.flat().entries()) view.setFloat32(from + 4 * place, value, true)
  }
  return new Uint8Array(view.buffer)
}
