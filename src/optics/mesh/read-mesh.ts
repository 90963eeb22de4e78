import { InvalidMesh, type Mesh, type MeshFormat } from './mesh.ts'
import { weldVertices } from './weld.ts'
import {
  buildMesh,
  readLines,
  MAX_CORNERS,
  MAX_FACETS,
  createMeshBuilder,
  parsePoint,
  quoteWord,
  tooManyFacetsError,
  parseInteger,
  type MeshBuilder,
  type MeshLine,
} from './mesh-builder.ts'

/**
 * Reads a mesh and welds its nearly equal points; facets keep their order. The format is detected by content. Time and memory are linear
 * in the size of the file, whatever it contains. @throws InvalidMesh
 */
export function readMesh(bytes: Uint8Array): { format: MeshFormat; mesh: Mesh } {
  if (bytes.length === 0) throw new InvalidMesh('The file is empty; it must be OFF, STL or OBJ')
  const { format, mesh } = readByFormat(bytes)
  return { format, mesh: weldVertices(mesh) }
}

function readByFormat(bytes: Uint8Array): { format: MeshFormat; mesh: Mesh } {
  if (isBinaryStl(bytes)) return { format: 'STL', mesh: readBinaryStl(bytes) }
  if (bytes.includes(0)) return { format: 'STL', mesh: readBinaryStl(bytes) }
  const text = textOf(bytes)
  switch (formatOf(text)) {
    case 'OFF':
      return { format: 'OFF', mesh: readOff(text) }
    case 'STL':
      return { format: 'STL', mesh: readTextStl(text) }
    case 'OBJ':
      return { format: 'OBJ', mesh: readObj(text) }
    default:
      throw new InvalidMesh(
        'The file must be OFF (starts with OFF), STL (starts with solid) or OBJ (lines that start with v and f)',
      )
  }
}

/** Whether the length fits the number of facets. The first word is no criterion: many binary files start with `solid`, as text files do. */
const isBinaryStl = (bytes: Uint8Array): boolean =>
  bytes.length >= FIRST_FACET_OFFSET && lengthFor(countOf(viewOf(bytes))) === bytes.length

const FIRST_FACET_OFFSET = 84

const lengthFor = (facets: number): number => FIRST_FACET_OFFSET + FACET_BYTES * facets

const FACET_BYTES = 50

const countOf = (view: DataView): number => view.getUint32(STL_HEADER_BYTES, true)

/** Layout: an ignored header and the number of facets; then for each facet a normal, three corners and two ignored bytes. */
const STL_HEADER_BYTES = 80

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Reads a binary STL: little endian, single precision. @throws InvalidMesh */
function readBinaryStl(bytes: Uint8Array): Mesh {
  const view = viewOf(bytes)
  if (bytes.length < FIRST_FACET_OFFSET)
    throw new InvalidMesh(`A binary STL must have at least ${FIRST_FACET_OFFSET} bytes, got ${bytes.length}`)
  const count = countOf(view)
  if (lengthFor(count) !== bytes.length)
    throw new InvalidMesh(
      `The file is not OFF, text STL or OBJ; a binary STL of ${count} facets must have ${lengthFor(count)} bytes, got ${bytes.length}`,
    )
  if (count > MAX_FACETS) throw tooManyFacetsError(`${count} facets`)
  const builder = createMeshBuilder()
  for (let facet = 0; facet < count; facet++) {
    const location = `Facet ${facet + 1}`
    const from = FIRST_FACET_OFFSET + FACET_BYTES * facet + NORMAL_BYTES
    const corners = [0, 1, 2].map((corner) => builder.addPoint(location, pointAt(view, from + POINT_BYTES * corner)))
    builder.addFacet(location, corners)
  }
  return buildMesh(builder)
}

const NORMAL_BYTES = 12

const pointAt = (view: DataView, from: number): number[] =>
  [0, 4, 8].map((offset) => view.getFloat32(from + offset, true))

const POINT_BYTES = 12

/** Decodes each byte as one character: everything that is read is ASCII, and names in any encoding are skipped. */
function textOf(bytes: Uint8Array): string {
  const from = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? BYTE_ORDER_MARK.length : 0
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', from)
}

/** The UTF-8 byte order mark, which some editors write at the start of a text. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

function formatOf(text: string): MeshFormat | undefined {
  let isFirst = true
  for (const { words } of readLines(text)) {
    const [word = ''] = words
    if (isFirst && isOffHeader(word)) return 'OFF'
    if (isFirst && word.toLowerCase() === 'solid') return 'STL'
    if (word === 'v' || word === 'f') return 'OBJ'
    isFirst = false
  }
  return undefined
}

/** Whether a file's first word is an OFF header, supported or not. */
const isOffHeader = (word: string): boolean => OFF_HEADER.test(word.toUpperCase().slice(0, 8))

const OFF_HEADER = /^(ST)?C?N?4?N?OFF/

/**
 * Reads Geomview's OFF in text format: a header, the counts of points, facets and edges (on the same line or the next), then a line per
 * point and a line per facet. @throws InvalidMesh
 */
function readOff(text: string): Mesh {
  const lines = readLines(text)
  const counts = countsOf(lines)
  const builder = createMeshBuilder()
  for (const { number, words } of lines) {
    const location = `Line ${number}`
    if (builder.mesh.vertices.length < counts.points) builder.addPoint(location, parsePoint(words, number))
    else if (builder.mesh.facets.length < counts.facets)
      builder.addFacet(location, cornersOf(words, number, counts.points))
    else throw new InvalidMesh(`${location}: the file declares ${describeCounts(counts)}, but contains more lines`)
  }
  checkComplete(builder, counts)
  return buildMesh(builder)
}

type OffCounts = { readonly points: number; readonly facets: number }

function countsOf(lines: Generator<MeshLine>): OffCounts {
  const header = nextLine(lines)
  const [name = '', ...wordsAfterName] = header.words
  if (!supportedHeaders.includes(name.toUpperCase()) || wordsAfterName[0]?.toUpperCase() === 'BINARY')
    throw new InvalidMesh(
      `Line ${header.number}: ${quoteWord(header.words.join(' '))} must be OFF as text, in 3 dimensions`,
    )
  const { words, number } = wordsAfterName.length > 0 ? { ...header, words: wordsAfterName } : nextLine(lines)
  const [points = -1, facets = -1] = words.slice(0, 2).map((word) => parseInteger(word, number))
  if (points < 0 || facets < 0)
    throw new InvalidMesh(`Line ${number}: this line must contain the counts of points, facets and edges`)
  if (facets > MAX_FACETS) throw tooManyFacetsError(`Line ${number}`)
  if (points > MAX_CORNERS) throw new InvalidMesh(`Line ${number}: a file may contain at most ${MAX_CORNERS} points`)
  return { points, facets }
}

function nextLine(lines: Generator<MeshLine>): MeshLine {
  const line = lines.next()
  if (line.done !== true) return line.value
  throw new InvalidMesh('The file is truncated: it must start with OFF and the counts of points, facets and edges')
}

/** The supported headers. Colours, normals and texture coordinates of points are skipped. */
const supportedHeaders = ['OFF', 'COFF', 'NOFF', 'CNOFF', 'STOFF', 'STCOFF', 'STNOFF', 'STCNOFF']

/** The corners of a facet: their count, then as many point indices from 0. A colour may follow. */
function cornersOf([countWord = '', ...indexWords]: readonly string[], line: number, points: number): number[] {
  const count = parseInteger(countWord, line)
  if (count > indexWords.length || count < 0)
    throw new InvalidMesh(`Line ${line}: a facet of ${count} corners needs as many points, got ${indexWords.length}`)
  const corners = indexWords.slice(0, count).map((word) => parseInteger(word, line))
  const wrong = corners.find((corner) => corner < 0 || corner >= points)
  if (wrong === undefined) return corners
  throw new InvalidMesh(`Line ${line}: points are numbered 0 to ${points - 1}, got ${wrong}`)
}

const describeCounts = ({ points, facets }: OffCounts): string => `${points} points and ${facets} facets`

function checkComplete({ mesh: { vertices, facets } }: MeshBuilder, counts: OffCounts): void {
  if (vertices.length === counts.points && facets.length === counts.facets) return
  throw new InvalidMesh(
    `The file is truncated: it declares ${describeCounts(counts)}, but contains only ${describeCounts({ points: vertices.length, facets: facets.length })}`,
  )
}

/**
 * Reads STL in text format: `facet normal`, `outer loop`, three times `vertex`, `endloop`, `endfacet`. Normals are ignored.
 * @throws InvalidMesh
 */
function readTextStl(text: string): Mesh {
  const builder = createMeshBuilder()
  let corners: number[] = []
  let last: MeshLine | undefined
  for (const line of readLines(text)) {
    const location = `Line ${line.number}`
    last = line
    const keyword = keywordOf(line)
    if (keyword === 'vertex') corners.push(builder.addPoint(location, parsePoint(line.words.slice(1), line.number)))
    if (corners.length > 3)
      throw new InvalidMesh(`${location}: a facet of an STL must have 3 corners, this is the fourth`)
    if (keyword !== 'endfacet') continue
    builder.addFacet(location, corners)
    corners = []
  }
  if (last !== undefined && keywordOf(last) !== 'endsolid')
    throw new InvalidMesh(
      `The file is truncated at line ${last.number}, in facet ${builder.mesh.facets.length + 1}: it must end with endsolid`,
    )
  return buildMesh(builder)
}

function keywordOf({ words: [first = ''], number }: MeshLine): (typeof keywords)[number] {
  const keyword = keywords.find((candidate) => candidate === first.toLowerCase())
  if (keyword !== undefined) return keyword
  throw new InvalidMesh(`Line ${number}: ${quoteWord(first)} must be one of ${keywords.join(', ')}`)
}

const keywords = ['solid', 'facet', 'outer', 'vertex', 'endloop', 'endfacet', 'endsolid'] as const

/** Reads Wavefront's OBJ: points (`v`) and facets (`f`). Names, materials, normals and other lines are skipped. @throws InvalidMesh */
function readObj(text: string): Mesh {
  const builder = createMeshBuilder()
  for (const { number, words } of readLines(text)) {
    const [keyword, ...operands] = words
    const location = `Line ${number}`
    if (keyword === 'v') builder.addPoint(location, parsePoint(operands, number))
    if (keyword === 'f') {
      const count = builder.mesh.vertices.length
      builder.addFacet(
        location,
        operands.map((word) => cornerOf(word, number, count)),
      )
    }
  }
  return buildMesh(builder)
}

/** The index, from 0, of a corner: `7/2/5` is point 7 (texture 2, normal 5), `-1` the last point so far. */
function cornerOf(word: string, line: number, count: number): number {
  const slash = word.indexOf('/')
  const point = parseInteger(slash < 0 ? word : word.slice(0, slash), line)
  const index = point < 0 ? count + point : point - 1
  if (index >= 0 && index < count) return index
  throw new InvalidMesh(`Line ${line}: only ${count} points precede this facet, which refers to point ${point}`)
}
