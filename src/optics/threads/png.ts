import { crc32, deflateSync } from 'node:zlib'
import type { RgbaImage } from '../picture/picture.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const EIGHT_BITS = 8
const COLOR_TYPE_RGBA = 6

/** Encodes a picture as PNG (ISO/IEC 15948): 8 bits per channel, no filter, not interlaced. */
export function encodePng({ width, height, pixels }: RgbaImage): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([EIGHT_BITS, COLOR_TYPE_RGBA, 0, 0, 0], 8)
  const rows = Buffer.alloc(height * (1 + 4 * width))
  for (let row = 0; row < height; row++) {
    rows.set(pixels.subarray(4 * width * row, 4 * width * (row + 1)), row * (1 + 4 * width) + 1)
  }
  // Level 9 takes twice as long and saves only half a percent.
  const body = deflateSync(rows, { level: 6 })
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))])
}

function chunk(name: string, body: Buffer): Buffer {
  const typeAndData = Buffer.concat([Buffer.from(name, 'latin1'), body])
  const lengthAndChecksum = Buffer.alloc(8)
  lengthAndChecksum.writeUInt32BE(body.length, 0)
  lengthAndChecksum.writeUInt32BE(crc32(typeAndData), 4)
  return Buffer.concat([lengthAndChecksum.subarray(0, 4), typeAndData, lengthAndChecksum.subarray(4)])
}
