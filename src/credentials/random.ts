import { randomFillSync } from 'node:crypto'

/** One call of the generator takes as long for all of them as for a nonce. */
const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * So many random bytes, as node:crypto's randomBytes makes them, in a tenth of its time where there are few. They are
 * handed out once: none stays in the pool.
 * @throws RangeError for more than the pool holds, 4096
 */
export function drawRandom(length: number): Buffer {
  if (length > pool.length) throw new RangeError(`${length} random bytes, where at most ${pool.length} can be drawn`)
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const drawn = Buffer.from(pool.subarray(used, used + length))
  pool.fill(0, used, used + length)
  used += length
  return drawn
}
