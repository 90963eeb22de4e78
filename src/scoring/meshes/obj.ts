import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'
import { finished, newDraft } from './draft.ts'
import { linesOf, pointOf, wholeOf } from './lines.ts'
import { UnreadableMesh } from './unreadable-mesh.ts'

/** Wavefront's OBJ: its points (`v`) and facets (`f`); names, materials, normals and the like are passed over. @throws UnreadableMesh */
export function readObj(text: string): Mesh {
  const draft = newDraft()
  for (const { number, words } of linesOf(text)) {
    const [kind, ...others] = words
    const where = `Line ${number}`
    if (kind === 'v') draft.addPoint(where, pointOf(others, number))
    if (kind === 'f') {
      const count = draft.mesh.vertices.length
      draft.addFacet(
        where,
        others.map((word) => cornerOf(word, number, count)),
      )
    }
  }
  return finished(draft)
}

/** `7/2/5` is point 7 (texture 2, normal 5), `-1` the last point so far: its index from 0 on. */
function cornerOf(word: string, line: number, count: number): number {
  const slash = word.indexOf('/')
  const point = wholeOf(slash < 0 ? word : word.slice(0, slash), line)
  const index = point < 0 ? count + point : point - 1
  if (index >= 0 && index < count) return index
  throw new UnreadableMesh(`Line ${line}: ${count} points stand before this facet, it names point ${point}`)
}
