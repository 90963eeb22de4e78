import type { Mesh } from '../../domain/scoring/mesh/mesh.ts'
import { welded } from '../../domain/scoring/mesh/weld.ts'
import { isBinaryStl, readBinaryStl } from './binary-stl.ts'
import { linesOf } from './lines.ts'
import { readObj } from './obj.ts'
import { isOffHeader, readOff } from './off.ts'
import { readTextStl } from './text-stl.ts'
import { UnreadableMesh } from './unreadable-mesh.ts'

export type MeshFormat = 'OFF' | 'STL' | 'OBJ'

/** UTF-8's mark of byte order, which some editors put before a text. */
const MARK = [0xef, 0xbb, 0xbf]

/**
 * The mesh in a file's bytes, its nearly equal points made one; facets keep their order. The format is told by the content.
 * Time and memory grow with the bytes, whatever is in them. @throws UnreadableMesh
 */
export function readMesh(bytes: Uint8Array): { format: MeshFormat; mesh: Mesh } {
  if (bytes.length === 0) throw new UnreadableMesh('The file is empty; it must be OFF, STL or OBJ')
  const { format, mesh } = read(bytes)
  return { format, mesh: welded(mesh) }
}

function read(bytes: Uint8Array): { format: MeshFormat; mesh: Mesh } {
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
      throw new UnreadableMesh('The file is none of OFF (starts with OFF), STL and OBJ (lines that start with v and f)')
  }
}

/** A byte becomes a letter: all that is read is ASCII, and names in any encoding are passed over. */
function textOf(bytes: Uint8Array): string {
  const from = MARK.every((byte, index) => bytes[index] === byte) ? MARK.length : 0
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', from)
}

function formatOf(text: string): MeshFormat | undefined {
  let isFirst = true
  for (const { words } of linesOf(text)) {
    const [word = ''] = words
    if (isFirst && isOffHeader(word)) return 'OFF'
    if (isFirst && word.toLowerCase() === 'solid') return 'STL'
    if (word === 'v' || word === 'f') return 'OBJ'
    isFirst = false
  }
  return undefined
}
