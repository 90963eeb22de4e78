import { LRUCache } from 'lru-cache'
import type { SymmetryFold } from '../domain/scoring/mesh/symmetry.ts'
import type { StoneModelProperties } from '../domain/diamond/stone-model.ts'
import { UntraceableCut } from '../domain/scoring/cut/proportions.ts'
import type { TracedCut } from '../domain/scoring/cut/trace-cut.ts'
import type { PictureRequest } from './trace-messages.ts'
import type { TracePool } from './trace-pool.ts'

/** Traced bodies kept at most; each has a dozen numbers. */
const KEPT = 1_000

/** Stones' own bodies, from the files that are kept under their digests: looked at, traced and drawn, one at a time. */
export class StoneModelTracer {
  readonly #cache = new LRUCache<string, TracedCut>({ max: KEPT })
  #last: Promise<unknown> = Promise.resolve()

  /** @param bytesOf of the file that is kept under a digest; undefined where there is none */
  constructor(
    private readonly pool: Pick<TracePool, 'inspectInWorker' | 'traceModelInWorker' | 'drawInWorker'>,
    private readonly readFile: (digest: string) => Promise<Uint8Array<ArrayBuffer> | undefined>,
  ) {}

  /** What a file says. @throws Refusal invalid; StoreUnavailable */
  readonly inspect = (digest: string): Promise<StoneModelProperties> =>
    this.#runExclusively(async () => this.pool.inspectInWorker(await this.#bytes(digest)))

  /**
   * At once where it was traced before.
   * @throws UntraceableCut where it can't be traced, now or later: its file is gone, or no stone's; StoreUnavailable
   */
  readonly trace = (digest: string, fold: SymmetryFold | undefined): TracedCut | Promise<TracedCut> => {
    const key = `${digest}/${fold}`
    return this.#cache.get(key) ?? this.#runExclusively(() => this.#trace(key, digest, fold))
  }

  async #trace(key: string, digest: string, fold: SymmetryFold | undefined): Promise<TracedCut> {
    const traced = await this.pool.traceModelInWorker(await this.#bytes(digest), fold)
    this.#cache.set(key, traced)
    return traced
  }

  async #bytes(digest: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.readFile(digest)
    if (bytes === undefined) throw new UntraceableCut(`The file ${digest} is missing, though a model refers to it`)
    return bytes
  }

  /** @throws UntraceableCut where its file can't be drawn, now or later; StoreUnavailable */
  readonly draw = (digest: string, order: Omit<PictureRequest, 'subject'>): Promise<Uint8Array> =>
    this.#runExclusively(async () =>
      this.pool.drawInWorker({ ...order, subject: { model: await this.#bytes(digest) } }),
    )

  /** So that the bytes of one file are in memory, however many wait. */
  #runExclusively<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(action)
    // Whoever asked is told; the next one only waits.
    this.#last = result.catch(() => undefined)
    return result
  }
}
