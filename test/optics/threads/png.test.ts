import { inflateSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { encodePng } from '../../../src/optics/threads/png.ts'

const test = suite('a PNG file')

const picture = { width: 2, height: 1, pixels: Uint8ClampedArray.from([255, 0, 0, 255, 1, 2, 3, 4]) }

test('starts with the signature and a header with its size', () => {
  const file = encodePng(picture)
  assert.is(file.subarray(1, 4).toString('latin1'), 'PNG')
  assert.is(file.subarray(12, 16).toString('latin1'), 'IHDR')
  assert.equal([file.readUInt32BE(16), file.readUInt32BE(20)], [2, 1])
})

test('contains the rows, each after a filter byte', () => {
  const file = encodePng(picture)
  const start = file.indexOf('IDAT')
  const body = inflateSync(file.subarray(start + 4, start + 4 + file.readUInt32BE(start - 4)))
  assert.equal([...body], [0, 255, 0, 0, 255, 1, 2, 3, 4])
})

test('ends with an empty IEND chunk and its standard checksum', () => {
  assert.is(encodePng(picture).subarray(-8).toString('hex'), '49454e44ae426082')
})

test.run()
