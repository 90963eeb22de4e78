import { crc32, deflateSync } from 'node:zlib'
import type { RgbaImage } from '../domain/scoring/picture/picture.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const EIGHT_BITS = 8
const RED_GREEN_BLUE_OPACITY = 6

/** Encodes a picture as PNG (ISO/IEC 15948): 8 bits per channel, no filter, not interlaced. */
export function encodePng({ width, height, pixels }: RgbaImage): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([EIGHT_BITS, RED_GREEN_BLUE_OPACITY, 0, 0, 0], 8)
  const rows = Buffer.alloc(height * (1 + 4 * width))
  for (let row = 0; row < height; row++) {
    rows.set(pixels.subarray(4 * width * row, 4 * width * (row + 1)), row * (1 + 4 * width) + 1)
  }
  // Level 9 takes twice as long and saves only half a percent.
  const body = deflateSync(rows, { level: 6 })
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))])
}

function chunk(name: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), body])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(body.length, 0)
  ends.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)])
}
