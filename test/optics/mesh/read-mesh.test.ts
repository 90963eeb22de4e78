import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { toConvexBody } from '../../../src/optics/mesh/convex-body.ts'
import { readMesh } from '../../../src/optics/mesh/read-mesh.ts'
import { InvalidMesh } from '../../../src/optics/mesh/mesh.ts'

const test = suite('a mesh file')

const bytesOf = (content: string) => new TextEncoder().encode(content)
const points = ['0 0 0', '2 0 0', '0 2 0', '0 0 2']
const corners = [
  [0, 2, 1],
  [0, 1, 3],
  [0, 3, 2],
  [1, 2, 3],
]
const off = (header: string, body: readonly string[] = points) =>
  [header, ...body, ...corners.map((facet) => `3 ${facet.join(' ')}`)].join('\n')
const stlFacet = (facet: readonly number[]) => [
  'facet normal 0 0 0',
  ' outer loop',
  ...facet.map((corner) => `  vertex ${points[corner]}`),
  ' endloop',
  'endfacet',
]
const stl = (facets: readonly (readonly number[])[], end = 'endsolid') =>
  ['solid a stone', ...facets.flatMap(stlFacet), end].join('\n')
const obj = (lines: readonly string[]) => [...points.map((point) => `v ${point}`), ...lines].join('\n')
const objFacets = corners.map((facet) => `f ${facet.map((corner) => corner + 1).join(' ')}`)

function binary(count: number, facets: number, { start = '', value = 1 } = {}): Uint8Array {
  const view = new DataView(new ArrayBuffer(84 + 50 * facets))
  new TextEncoder().encodeInto(start, new Uint8Array(view.buffer))
  view.setUint32(80, count, true)
  for (const [index, facet] of corners.slice(0, facets).entries())
    for (const [place, corner] of facet.entries())
      for (const [axis, word] of (points[corner] ?? '').split(' ').entries())
        view.setFloat32(84 + 50 * index + 12 + 12 * place + 4 * axis, Number(word) * value, true)
  return new Uint8Array(view.buffer)
}

const readable: readonly (readonly [name: string, format: string, bytes: Uint8Array])[] = [
  ['OFF', 'OFF', bytesOf(off('OFF\n4 4 6'))],
  ['OFF with its counts in the first line', 'OFF', bytesOf(off('OFF 4 4 6'))],
  ['OFF without a count of edges', 'OFF', bytesOf(off('OFF\n4 4'))],
  [
    'OFF with comments, blank lines, tabs and trailing blanks',
    'OFF',
    bytesOf(`# a stone\n\n${off('OFF # so\n\t4 4\t6  ')}\n\n # end \n \n`),
  ],
  [
    'OFF with colours',
    'OFF',
    bytesOf(
      off(
        'COFF\n4 4 6',
        points.map((point) => `${point} 255 0 0 1`),
      ),
    ),
  ],
  [
    'OFF with normals',
    'OFF',
    bytesOf(
      off(
        'NOFF\n4 4 6',
        points.map((point) => `${point} 0 0 1`),
      ),
    ),
  ],
  ['OFF with coloured facets', 'OFF', bytesOf(off('OFF\n4 4 6').replaceAll(/^3 .*$/gm, '$& 0.5 0.5 0.5'))],
  [
    'OFF with Windows line ends and a byte order mark',
    'OFF',
    bytesOf(`\uFEFF${off('OFF\n4 4 6').replaceAll('\n', '\r\n')}`),
  ],
  [
    'OFF with numbers in any form',
    'OFF',
    bytesOf(off('OFF 4 4 6', ['0. -0 +0', '+2.0 0e5 .0', '0 20e-1 0', '0 0 0.2E+1'])),
  ],
  ['text STL', 'STL', bytesOf(stl(corners))],
  ['text STL in upper case with a name at its end', 'STL', bytesOf(stl(corners, 'endsolid a stone').toUpperCase())],
  ['binary STL', 'STL', binary(4, 4)],
  ['binary STL that starts like text STL', 'STL', binary(4, 4, { start: 'solid facet normal' })],
  ['OBJ', 'OBJ', bytesOf(obj(objFacets))],
  [
    'OBJ with textures and normals',
    'OBJ',
    bytesOf(
      `mtllib a.mtl\no stone\nvt 0 0\nvn 0 0 1\n${obj(objFacets).replaceAll(/^f (.) (.) (.)$/gm, 'f $1/1/1 $2//1 $3/1')}\ns off\ng a\nusemtl b`,
    ),
  ],
  [
    'OBJ with indices from the end',
    'OBJ',
    bytesOf(obj(corners.map((facet) => `f ${facet.map((corner) => corner - 4).join(' ')}`))),
  ],
]
for (const [name, format, bytes] of readable)
  test(`is read as ${name}`, () => {
    const found = readMesh(bytes)
    assert.is(found.format, format)
    assert.equal([found.mesh.vertices.length, found.mesh.facets.length], [4, 4])
    assert.ok(Math.abs(toConvexBody(found.mesh).volume - 8 / 6) < 1e-12)
  })

test('keeps facets with more than three corners', () => {
  const { mesh } = readMesh(
    bytesOf('OFF 5 5 0\n0 0 0\n2 0 0\n2 2 0\n0 2 0\n1 1 1\n4 3 2 1 0\n3 0 1 4\n3 1 2 4\n3 2 3 4\n3 3 0 4'),
  )
  assert.equal(mesh.facets[0], [3, 2, 1, 0])
})

test('has nearly equal points merged and unused points removed', () => {
  const near = points.map((point) => point.replace('2', '2.0000001'))
  const lines = ['v 100 100 100', ...near.map((point) => `v ${point}`), 'f 6 8 7', 'f 1 2 4', 'f 6 4 3', 'f 7 8 9']
  const { mesh } = readMesh(bytesOf(obj(lines)))
  assert.equal(mesh, {
    vertices: points.map((point) => point.split(' ').map(Number)),
    facets: corners,
  })
})

const many = (count: number, line: string) => Array.from({ length: count }, () => line).join('\n')

const broken: readonly (readonly [name: string, bytes: Uint8Array, words: string])[] = [
  ['that is empty', new Uint8Array(), 'The file is empty'],
  ['of blanks', bytesOf(' \n\t\r\n'), 'The file must be OFF'],
  ['that is an HTML page', bytesOf('<html>solid facet</html>'), 'The file must be OFF'],
  ['that is a PNG file', Uint8Array.from([0x89, 0x50, 0, 1, 2]), 'A binary STL must have at least 84 bytes, got 5'],
  [
    'that is another binary file',
    new Uint8Array(200).fill(7).fill(0, 0, 80),
    'a binary STL of 117901063 facets must have 5895053234 bytes, got 200',
  ],
  ['OFF with only its header', bytesOf('OFF\n'), 'truncated: it must start with OFF and the counts'],
  ['OFF as binary', bytesOf('OFF BINARY\nabc'), 'Line 1: "OFF BINARY" must be OFF as text'],
  ['OFF in four dimensions', bytesOf('4OFF\n1 1 1'), 'Line 1: "4OFF" must be OFF as text, in 3 dimensions'],
  ['OFF in n dimensions', bytesOf('OFFn\n1 1 1'), 'must be OFF as text, in 3 dimensions'],
  ['OFF without counts', bytesOf('OFF\n4\n'), 'Line 2: this line must contain the counts of points'],
  ['OFF with broken counts', bytesOf('OFF\n4.5 4 6\n'), 'Line 2: "4.5" must be a whole number'],
  ['OFF with negative counts', bytesOf('OFF\n-4 4 6\n'), 'Line 2: this line must contain the counts of points'],
  [
    'OFF that declares too many facets',
    bytesOf('OFF\n4 100001 6\n'),
    'Line 2: a file may contain at most 100000 facets',
  ],
  [
    'OFF that declares too many points',
    bytesOf('OFF\n4000000000 4 6\n'),
    'Line 2: a file may contain at most 600000 points',
  ],
  ['OFF without facets', bytesOf(`OFF\n4 0 0\n${points.join('\n')}`), 'contains no facets'],
  [
    'OFF truncated in its facets',
    bytesOf(off('OFF\n4 4 6').split('\n').slice(0, -1).join('\n')),
    'truncated: it declares 4 points and 4 facets, but contains only 4 points and 3 facets',
  ],
  [
    'OFF truncated within a line',
    bytesOf(off('OFF\n4 4 6').slice(0, -2)),
    'Line 10: a facet of 3 corners needs as many points, got 2',
  ],
  [
    'OFF with extra lines',
    bytesOf(`${off('OFF\n4 4 6')}\n3 0 1 2`),
    'Line 11: the file declares 4 points and 4 facets, but contains more lines',
  ],
  [
    'OFF with a point of two coordinates',
    bytesOf(off('OFF\n4 4 6').replace('2 0 0', '2 0')),
    'Line 4: a point needs three coordinates, got 2',
  ],
  [
    'OFF with a decimal comma',
    bytesOf(off('OFF\n4 4 6').replace('2 0 0', '2,5 0 0')),
    'Line 4: "2,5" must be a number like -1.25',
  ],
  ['OFF with NaN', bytesOf(off('OFF\n4 4 6').replace('2 0 0', 'nan 0 0')), 'Line 4: "nan" must be a number'],
  [
    'OFF with an infinite coordinate',
    bytesOf(off('OFF\n4 4 6').replace('2 0 0', '1e999 0 0')),
    'Line 4: a coordinate must be a number from -1000000 to 1000000, got Infinity',
  ],
  [
    'OFF with a hexadecimal number',
    bytesOf(off('OFF\n4 4 6').replace('2 0 0', '0x2 0 0')),
    'Line 4: "0x2" must be a number',
  ],
  [
    'OFF with an unknown point index',
    bytesOf(off('OFF\n4 4 6').replace('3 1 2 3', '3 1 2 4')),
    'Line 10: points are numbered 0 to 3, got 4',
  ],
  [
    'OFF with a facet of two corners',
    bytesOf(off('OFF\n4 4 6').replace('3 1 2 3', '2 1 2')),
    'Line 10: a facet needs 3 corners, got 2',
  ],
  [
    'OFF with a facet of 4,000,000,000 corners',
    bytesOf(off('OFF\n4 4 6').replace('3 1 2 3', '4000000000 1 2')),
    'Line 10: a facet of 4000000000 corners needs as many points, got 2',
  ],
  ['text STL without facets', bytesOf('solid nothing\nendsolid'), 'contains no facets'],
  [
    'truncated text STL',
    bytesOf(stl(corners).slice(0, -40)),
    'The file is truncated at line 26, in facet 4: it must end with endsolid',
  ],
  ['text STL without endsolid', bytesOf(stl(corners, '')), 'The file is truncated at line 29'],
  [
    'text STL with a facet of four corners',
    bytesOf(stl([[0, 1, 2, 3]])),
    'Line 7: a facet of an STL must have 3 corners',
  ],
  ['text STL with a facet of two corners', bytesOf(stl([[0, 1]])), 'Line 7: a facet needs 3 corners, got 2'],
  [
    'text STL with an unknown keyword',
    bytesOf(stl(corners).replace('endloop', 'end loop')),
    'Line 7: "end" must be one of solid, facet, outer',
  ],
  ['truncated binary STL', binary(4, 4).slice(0, -1), 'a binary STL of 4 facets must have 284 bytes, got 283'],
  ['binary STL with extra bytes', binary(3, 4), 'a binary STL of 3 facets must have 234 bytes, got 284'],
  ['binary STL without facets', binary(0, 0), 'contains no facets'],
  [
    'binary STL with NaN',
    binary(4, 4, { value: NaN }),
    'Facet 1: a coordinate must be a number from -1000000 to 1000000, got NaN',
  ],
  ['binary STL with too large a coordinate', binary(4, 4, { value: 1e30 }), 'Facet 1: a coordinate must be a number'],
  [
    'binary STL with too many facets',
    binary(100_001, 100_001),
    '100001 facets: a file may contain at most 100000 facets',
  ],
  ['OBJ without facets', bytesOf(obj([])), 'contains no facets'],
  ['OBJ with only facets', bytesOf('f 1 2 3'), 'Line 1: only 0 points precede this facet, which refers to point 1'],
  ['OBJ with point 0', bytesOf(obj(['f 0 1 2'])), 'Line 5: only 4 points precede this facet, which refers to point 0'],
  ['OBJ with an index too far from the end', bytesOf(obj(['f -5 1 2'])), 'which refers to point -5'],
  ['OBJ with a facet without indices', bytesOf(obj(['f /1/1 2/1/1 3/1/1'])), 'Line 5: "" must be a number'],
  ['OBJ with a facet continued in the next line', bytesOf(obj(['f 1 2 \\', '3'])), 'Line 5: "\\" must be a number'],
  ['OBJ with a fractional index', bytesOf(obj(['f 1.5 2 3'])), 'Line 5: "1.5" must be a whole number'],
  [
    'OBJ with too many facets',
    bytesOf(obj([many(100_001, 'f 1 2 3')])),
    'Line 100005: a file may contain at most 100000 facets',
  ],
  [
    'OBJ with too many corners',
    bytesOf(obj([`f${' 1'.repeat(600_001)}`])),
    'Line 5: all facets together may have at most 600000 corners',
  ],
  [
    'OBJ with too many points',
    bytesOf(many(600_001, 'v 1 2 3')),
    'Line 600001: a file may contain at most 600000 points',
  ],
  [
    'with a word of 5,000,000 characters',
    bytesOf(`v ${'1'.repeat(5_000_000)} 0 0`),
    'Line 1: "111111111111111111111111…" must be a number',
  ],
  ['with a line of 5,000,000 words', bytesOf(`v ${'1 '.repeat(5_000_000)}`), 'Line 1 has more than 1200000 words'],
  [
    'of 20,000,000 empty lines',
    bytesOf(`OFF${'\n'.repeat(20_000_000)}`),
    'truncated: it must start with OFF and the counts',
  ],
  ['of 20,000,000 blanks', bytesOf(`solid${' '.repeat(20_000_000)}`), 'truncated at line 1'],
]
for (const [name, bytes, words] of broken)
  test(`${name} is rejected with the location and the error`, () => {
    assert.throws(
      () => readMesh(bytes),
      (error: unknown) => {
        if (!(error instanceof InvalidMesh)) return false
        assert.ok(error.message.includes(words), `"${error.message}" lacks "${words}"`)
        assert.ok(error.message.length < 200, 'too long a message')
        return true
      },
    )
  })

test.run()
