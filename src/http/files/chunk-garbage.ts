import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type MinorCollection = (options: { readonly type: 'minor' }) => void

/**
 * V8 collects its young objects when their own memory is full, where a chunk of 64 KiB counts as the hundred bytes that
 * refer to it: uploads would leave over 64 MB behind before anything is freed. So each so many bytes of chunks ask for
 * a collection of young objects, which takes about a millisecond.
 */
export class ChunkGarbage {
  #bytes = 0
  readonly #collect = minorCollection()

  /** @param limit bytes of chunks between two collections */
  constructor(private readonly limit: number) {}

  /** Tells of a chunk that has been used. */
  left(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes < this.limit) return
    this.#bytes = 0
    this.#collect({ type: 'minor' })
  }
}

/** Node offers it by a flag only, which may be set and taken back at any time: https://nodejs.org/api/v8.html */
function minorCollection(): MinorCollection {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as MinorCollection
  setFlagsFromString('--no-expose-gc')
  return collect
}
