import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'

/** Bytes that are no mesh, or one too large. The message says what is wrong and where, and what would be right. */
export class UnreadableMesh extends Error {
  override readonly name = 'UnreadableMesh'
}

/** As much of a word of the file as a message can hold. */
export const quoteWord = (word: string): string => (word.length > 24 ? `"${word.slice(0, 24)}…"` : `"${word}"`)

export const MAX_FACETS = 100_000
/** No closed convex surface has more corners in all than six a facet (Euler), nor a file that writes each one anew more points. */
export const MAX_CORNERS = 6 * MAX_FACETS

/** How far from zero a coordinate may be, in millimetres: a kilometre, so that no product is too large for a number. */
const FARTHEST = 1e6

/** A mesh while its file is read. `where` names the place in messages: `Line 12` or `Facet 3`. */
export type MeshBuilder = {
  readonly mesh: Mesh
  addPoint(where: string, point: readonly number[]): number
  addFacet(where: string, corners: readonly number[]): void
}

/** An empty draft. What is added is checked: finite coordinates, facets of three corners at least, no more than the limits. */
export function createMeshBuilder(): MeshBuilder {
  const vertices: (readonly [number, number, number])[] = []
  const facets: (readonly number[])[] = []
  let corners = 0
  return {
    mesh: { vertices, facets },
    addPoint(where, [x = NaN, y = NaN, z = NaN]) {
      checkCoordinates(where, [x, y, z])
      if (vertices.length === MAX_CORNERS) throw new UnreadableMesh(`${where}: a file may hold ${MAX_CORNERS} points`)
      return vertices.push([x, y, z]) - 1
    },
    addFacet(where, facet) {
      corners += facet.length
      if (facet.length < 3) throw new UnreadableMesh(`${where}: a facet needs 3 corners, got ${facet.length}`)
      if (facets.length === MAX_FACETS) throw tooManyFacetsError(where)
      if (corners > MAX_CORNERS)
        throw new UnreadableMesh(`${where}: all facets together may have ${MAX_CORNERS} corners`)
      facets.push(facet)
    },
  }
}

export const tooManyFacetsError = (where: string): UnreadableMesh =>
  new UnreadableMesh(`${where}: a file may hold at most ${MAX_FACETS} facets`)

function checkCoordinates(where: string, point: readonly number[]): void {
  const wrong = point.find((value) => !(Math.abs(value) <= FARTHEST))
  if (wrong === undefined) return
  throw new UnreadableMesh(`${where}: a coordinate must be a number from -${FARTHEST} to ${FARTHEST}, got ${wrong}`)
}

/** The mesh of a file that was read to its end. */
export function buildMesh({ mesh }: MeshBuilder): Mesh {
  const count = mesh.vertices.length
  for (const [index, facet] of mesh.facets.entries()) {
    const wrong = facet.find((corner) => corner < 0 || corner >= count)
    if (wrong === undefined) continue
    throw new UnreadableMesh(`Facet ${index + 1} names point ${wrong + 1} of a file that holds ${count} points`)
  }
  if (mesh.facets.length === 0) throw new UnreadableMesh('The file holds no facets, a body needs 4 at least')
  return mesh
}

/** A line that is not blank, counted from 1, and its words. */
export type MeshLine = { readonly number: number; readonly words: readonly string[] }

/** A line's words are a facet's corners at most, and their colours. */
const MOST_WORDS = 2 * MAX_CORNERS
const COMMENT = '#'.charCodeAt(0)
const BLANK = ' '.charCodeAt(0)

/** The lines of a text that hold more than blanks and a comment, one after the other: never all of them at once. */
export function* readLines(text: string): Generator<MeshLine> {
  let number = 0
  for (let from = 0; from < text.length;) {
    number += 1
    const newline = text.indexOf('\n', from)
    const end = newline < 0 ? text.length : newline
    const words = wordsOf(text, from, end, number)
    if (words.length > 0) yield { number, words }
    from = end + 1
  }
}

function wordsOf(text: string, from: number, end: number, number: number): string[] {
  const words: string[] = []
  let start = -1
  for (let index = from; index <= end; index++) {
    const code = index === end ? COMMENT : text.charCodeAt(index)
    if (start >= 0 && (code <= BLANK || code === COMMENT)) {
      words.push(text.slice(start, index))
      start = -1
    }
    if (code === COMMENT) break
    if (code > BLANK && start < 0) start = index
    if (words.length > MOST_WORDS) throw new UnreadableMesh(`Line ${number} holds more than ${MOST_WORDS} words`)
  }
  return words
}

/** Longer than any number that a double can hold exactly. */
const LONGEST = 64
const PLAIN = new Set([...'0123456789+-.eE'].map((letter) => letter.charCodeAt(0)))

function isPlain(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (!PLAIN.has(word.charCodeAt(index))) return false
  return word.length > 0
}

/** The number that a word says; hexadecimal and words like Infinity are none. @throws UnreadableMesh */
function parseNumber(word: string, line: number): number {
  const value = word.length <= LONGEST && isPlain(word) ? Number(word) : NaN
  if (Number.isNaN(value))
    throw new UnreadableMesh(`Line ${line}: ${quoteWord(word)} must be a number like -1.25 or 3e-4`)
  return value
}

/** @throws UnreadableMesh */
export function parseInteger(word: string, line: number): number {
  const value = parseNumber(word, line)
  if (!Number.isSafeInteger(value)) throw new UnreadableMesh(`Line ${line}: ${quoteWord(word)} must be a whole number`)
  return value
}

/** The first three words as a point's coordinates. @throws UnreadableMesh */
export function parsePoint(words: readonly string[], line: number): [x: number, y: number, z: number] {
  const [x, y, z] = words
  if (x === undefined || y === undefined || z === undefined)
    throw new UnreadableMesh(`Line ${line}: a point needs three coordinates, got ${words.length}`)
  return [parseNumber(x, line), parseNumber(y, line), parseNumber(z, line)]
}
