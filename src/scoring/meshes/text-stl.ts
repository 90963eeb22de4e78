import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'
import { finished, newDraft } from './draft.ts'
import { linesOf, pointOf, type Line } from './lines.ts'
import { quoted, UnreadableMesh } from './unreadable-mesh.ts'

/** STL as text: `facet normal`, `outer loop`, three times `vertex`, `endloop`, `endfacet`. Normals are not believed. @throws UnreadableMesh */
export function readTextStl(text: string): Mesh {
  const draft = newDraft()
  let corners: number[] = []
  let last: Line | undefined
  for (const line of linesOf(text)) {
    const where = `Line ${line.number}`
    last = line
    const kind = kindOf(line)
    if (kind === 'vertex') corners.push(draft.addPoint(where, pointOf(line.words.slice(1), line.number)))
    if (corners.length > 3) throw new UnreadableMesh(`${where}: a facet of an STL has 3 corners, this is its fourth`)
    if (kind !== 'endfacet') continue
    draft.addFacet(where, corners)
    corners = []
  }
  if (last !== undefined && kindOf(last) !== 'endsolid')
    throw new UnreadableMesh(
      `The file is cut off at line ${last.number}, in facet ${draft.mesh.facets.length + 1}: it must end with endsolid`,
    )
  return finished(draft)
}

const kinds = ['solid', 'facet', 'outer', 'vertex', 'endloop', 'endfacet', 'endsolid'] as const

function kindOf({ words: [first = ''], number }: Line): (typeof kinds)[number] {
  const kind = kinds.find((known) => known === first.toLowerCase())
  if (kind !== undefined) return kind
  throw new UnreadableMesh(`Line ${number}: ${quoted(first)} must be one of ${kinds.join(', ')}`)
}
