import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'
import { finished, MOST_CORNERS, MOST_FACETS, newDraft, tooMany, type Draft } from './draft.ts'
import { linesOf, pointOf, wholeOf, type Line } from './lines.ts'
import { quoted, UnreadableMesh } from './unreadable-mesh.ts'

/** Whether a file's first word opens an OFF, readable or not. */
export const isOffHeader = (word: string): boolean => HEADER.test(word.toUpperCase().slice(0, 8))
const HEADER = /^(ST)?C?N?4?N?OFF/

/** With colours, normals or texture coordinates behind each point: they are not read. */
const readable = ['OFF', 'COFF', 'NOFF', 'CNOFF', 'STOFF', 'STCOFF', 'STNOFF', 'STCNOFF']

/**
 * Geomview's OFF as text: a header, the counts of points, facets and edges (in the header's line, or the next), then a line
 * for each point and each facet. @throws UnreadableMesh
 */
export function readOff(text: string): Mesh {
  const lines = linesOf(text)
  const counts = countsOf(lines)
  const draft = newDraft()
  for (const { number, words } of lines) {
    const where = `Line ${number}`
    if (draft.mesh.vertices.length < counts.points) draft.addPoint(where, pointOf(words, number))
    else if (draft.mesh.facets.length < counts.facets) draft.addFacet(where, cornersOf(words, number, counts.points))
    else throw new UnreadableMesh(`${where}: the file announces ${said(counts)}, and goes on behind them`)
  }
  checkWhole(draft, counts)
  return finished(draft)
}

type Counts = { readonly points: number; readonly facets: number }

function countsOf(lines: Generator<Line>): Counts {
  const header = next(lines)
  const [name = '', ...beside] = header.words
  if (!readable.includes(name.toUpperCase()) || beside[0]?.toUpperCase() === 'BINARY')
    throw new UnreadableMesh(
      `Line ${header.number}: ${quoted(header.words.join(' '))} must be OFF as text, in 3 dimensions`,
    )
  const { words, number } = beside.length > 0 ? { ...header, words: beside } : next(lines)
  const [points = -1, facets = -1] = words.slice(0, 2).map((word) => wholeOf(word, number))
  if (points < 0 || facets < 0)
    throw new UnreadableMesh(`Line ${number}: the counts of points, facets and edges must stand here`)
  if (facets > MOST_FACETS) throw tooMany(`Line ${number}`)
  if (points > MOST_CORNERS) throw new UnreadableMesh(`Line ${number}: a file may hold ${MOST_CORNERS} points`)
  return { points, facets }
}

function next(lines: Generator<Line>): Line {
  const line = lines.next()
  if (line.done !== true) return line.value
  throw new UnreadableMesh(
    'The file is cut off: OFF and the counts of points, facets and edges must stand at its start',
  )
}

/** The corners in a facet's line: their count, then as many indices of points from 0 on; a colour may follow. */
function cornersOf([first = '', ...others]: readonly string[], line: number, points: number): number[] {
  const count = wholeOf(first, line)
  if (count > others.length || count < 0)
    throw new UnreadableMesh(`Line ${line}: a facet of ${count} corners needs as many points, got ${others.length}`)
  const corners = others.slice(0, count).map((word) => wholeOf(word, line))
  const wrong = corners.find((corner) => corner < 0 || corner >= points)
  if (wrong === undefined) return corners
  throw new UnreadableMesh(`Line ${line}: points are numbered 0 to ${points - 1}, got ${wrong}`)
}

function checkWhole({ mesh: { vertices, facets } }: Draft, counts: Counts): void {
  if (vertices.length === counts.points && facets.length === counts.facets) return
  throw new UnreadableMesh(
    `The file is cut off: it announces ${said(counts)}, and ends after ${said({ points: vertices.length, facets: facets.length })}`,
  )
}

const said = ({ points, facets }: Counts): string => `${points} points and ${facets} facets`
