import { InvalidMesh, type Mesh } from './mesh.ts'

/** Quotes a word of the file, truncated for messages. */
export const quoteWord = (word: string): string => (word.length > 24 ? `"${word.slice(0, 24)}…"` : `"${word}"`)

export const MAX_FACETS = 100_000
/** A closed convex surface has at most six corners per facet in total (Euler), so a file that repeats every vertex has no more points. */
export const MAX_CORNERS = 6 * MAX_FACETS

/** Maximum absolute coordinate in millimetres (1 km), so that products of coordinates do not overflow. */
const MAX_COORDINATE = 1e6

/** Collects a mesh while its file is read. `location`: the place for messages, such as `Line 12` or `Facet 3`. */
export type MeshBuilder = {
  readonly mesh: Mesh
  addPoint(location: string, point: readonly number[]): number
  addFacet(location: string, corners: readonly number[]): void
}

/** Checks what is added: coordinates are finite, facets have at least three corners, and the limits are kept. */
export function createMeshBuilder(): MeshBuilder {
  const vertices: (readonly [number, number, number])[] = []
  const facets: (readonly number[])[] = []
  let corners = 0
  return {
    mesh: { vertices, facets },
    addPoint(location, [x = NaN, y = NaN, z = NaN]) {
      checkCoordinates(location, [x, y, z])
      if (vertices.length === MAX_CORNERS)
        throw new InvalidMesh(`${location}: a file may contain at most ${MAX_CORNERS} points`)
      return vertices.push([x, y, z]) - 1
    },
    addFacet(location, facet) {
      corners += facet.length
      if (facet.length < 3) throw new InvalidMesh(`${location}: a facet needs 3 corners, got ${facet.length}`)
      if (facets.length === MAX_FACETS) throw tooManyFacetsError(location)
      if (corners > MAX_CORNERS)
        throw new InvalidMesh(`${location}: all facets together may have at most ${MAX_CORNERS} corners`)
      facets.push(facet)
    },
  }
}

export const tooManyFacetsError = (location: string): InvalidMesh =>
  new InvalidMesh(`${location}: a file may contain at most ${MAX_FACETS} facets`)

function checkCoordinates(location: string, point: readonly number[]): void {
  const wrong = point.find((value) => !(Math.abs(value) <= MAX_COORDINATE))
  if (wrong === undefined) return
  throw new InvalidMesh(
    `${location}: a coordinate must be a number from -${MAX_COORDINATE} to ${MAX_COORDINATE}, got ${wrong}`,
  )
}

/** Checks the indices of corners and returns the complete mesh. @throws InvalidMesh */
export function buildMesh({ mesh }: MeshBuilder): Mesh {
  const count = mesh.vertices.length
  for (const [index, facet] of mesh.facets.entries()) {
    const wrong = facet.find((corner) => corner < 0 || corner >= count)
    if (wrong === undefined) continue
    throw new InvalidMesh(`Facet ${index + 1} refers to point ${wrong + 1}, but the file contains only ${count} points`)
  }
  if (mesh.facets.length === 0) throw new InvalidMesh('The file contains no facets; a body needs at least 4')
  return mesh
}

/** The words of a non-blank line; lines are counted from 1. */
export type MeshLine = { readonly number: number; readonly words: readonly string[] }

/** The most words in a line: all corners of a facet, and their colours. */
const MAX_WORDS_PER_LINE = 2 * MAX_CORNERS
const COMMENT = '#'.charCodeAt(0)
const BLANK = ' '.charCodeAt(0)

/** Yields the lines of a text that are not blank or only a comment, one at a time to limit memory. */
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
    if (words.length > MAX_WORDS_PER_LINE)
      throw new InvalidMesh(`Line ${number} has more than ${MAX_WORDS_PER_LINE} words`)
  }
  return words
}

/** Maximum length of a number: longer than any that a double represents exactly. */
const MAX_NUMBER_LENGTH = 64
const NUMBER_CHARACTERS = new Set([...'0123456789+-.eE'].map((letter) => letter.charCodeAt(0)))

function hasOnlyNumberCharacters(word: string): boolean {
  for (let index = 0; index < word.length; index++) if (!NUMBER_CHARACTERS.has(word.charCodeAt(index))) return false
  return word.length > 0
}

/** Parses a decimal number; rejects hexadecimal numbers and words such as Infinity. @throws InvalidMesh */
function parseNumber(word: string, line: number): number {
  const value = word.length <= MAX_NUMBER_LENGTH && hasOnlyNumberCharacters(word) ? Number(word) : NaN
  if (Number.isNaN(value)) throw new InvalidMesh(`Line ${line}: ${quoteWord(word)} must be a number like -1.25 or 3e-4`)
  return value
}

/** @throws InvalidMesh */
export function parseInteger(word: string, line: number): number {
  const value = parseNumber(word, line)
  if (!Number.isSafeInteger(value)) throw new InvalidMesh(`Line ${line}: ${quoteWord(word)} must be a whole number`)
  return value
}

/** Parses the first three words as coordinates. @throws InvalidMesh */
export function parsePoint(words: readonly string[], line: number): [x: number, y: number, z: number] {
  const [x, y, z] = words
  if (x === undefined || y === undefined || z === undefined)
    throw new InvalidMesh(`Line ${line}: a point needs three coordinates, got ${words.length}`)
  return [parseNumber(x, line), parseNumber(y, line), parseNumber(z, line)]
}
