import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'
import { finished, MOST_FACETS, newDraft, tooMany } from './draft.ts'
import { UnreadableMesh } from './unreadable-mesh.ts'

/** A header of no meaning and the number of facets; then each facet: its normal, three corners and two bytes of no meaning. */
const HEADER = 80
const FIRST = 84
const FACET = 50
const NORMAL = 12
const POINT = 12

/** Whether the bytes are exactly as many as a binary STL says it has: many start with `solid`, as texts do. */
export const isBinaryStl = (bytes: Uint8Array): boolean =>
  bytes.length >= FIRST && lengthFor(countOf(viewOf(bytes))) === bytes.length

/** A binary STL: little endian, single precision. @throws UnreadableMesh */
export function readBinaryStl(bytes: Uint8Array): Mesh {
  const view = viewOf(bytes)
  if (bytes.length < FIRST) throw new UnreadableMesh(`A binary STL has ${FIRST} bytes at least, got ${bytes.length}`)
  const count = countOf(view)
  if (lengthFor(count) !== bytes.length)
    throw new UnreadableMesh(
      `No OFF, text STL or OBJ; a binary STL of ${count} facets has ${lengthFor(count)} bytes, got ${bytes.length}`,
    )
  if (count > MOST_FACETS) throw tooMany(`${count} facets`)
  const draft = newDraft()
  for (let facet = 0; facet < count; facet++) {
    const where = `Facet ${facet + 1}`
    const from = FIRST + FACET * facet + NORMAL
    const corners = [0, 1, 2].map((corner) => draft.addPoint(where, pointAt(view, from + POINT * corner)))
    draft.addFacet(where, corners)
  }
  return finished(draft)
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
const countOf = (view: DataView): number => view.getUint32(HEADER, true)
const lengthFor = (facets: number): number => FIRST + FACET * facets

const pointAt = (view: DataView, from: number): number[] =>
  [0, 4, 8].map((offset) => view.getFloat32(from + offset, true))
