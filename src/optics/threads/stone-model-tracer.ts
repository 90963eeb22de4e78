import { LRUCache } from 'lru-cache'
import type { SymmetryFold } from '../mesh/symmetry.ts'
import type { StoneModelProperties } from '../stone-model-tracing.ts'
import { UntraceableCut } from '../cut/proportions.ts'
import type { TracedCut } from '../cut/trace-cut.ts'
import type { PictureRequest } from './trace-messages.ts'
import type { TracePool } from './trace-pool.ts'

const MAX_CACHED_MODELS = 1_000

/** Inspects, traces and draws 3D models in worker threads, one at a time. */
export class StoneModelTracer {
  readonly #cache = new LRUCache<string, TracedCut>({ max: MAX_CACHED_MODELS })
  #lastAction: Promise<unknown> = Promise.resolve()

  /** @param readFile reads a file from the store by its digest; undefined if it is missing or damaged */
  constructor(
    private readonly pool: Pick<TracePool, 'inspectInWorker' | 'traceModelInWorker' | 'drawInWorker'>,
    private readonly readFile: (digest: string) => Promise<Uint8Array<ArrayBuffer> | undefined>,
  ) {}

  /** @throws InvalidMesh if the file is not a model of a stone; StoreUnavailable */
  readonly inspect = (digest: string): Promise<StoneModelProperties> =>
    this.#runExclusively(async () => this.pool.inspectInWorker(await this.#bytes(digest)))

  /** The result of an earlier `trace`, if it is cached. */
  find(digest: string, fold: SymmetryFold | undefined): TracedCut | undefined {
    return this.#cache.get(`${digest}/${fold}`)
  }

  /** @throws UntraceableCut if the file is missing, damaged or no stone, which retrying does not change; StoreUnavailable */
  trace(digest: string, fold: SymmetryFold | undefined): Promise<TracedCut> {
    return this.#runExclusively(async () => {
      const traced = this.find(digest, fold) ?? (await this.pool.traceModelInWorker(await this.#bytes(digest), fold))
      this.#cache.set(`${digest}/${fold}`, traced)
      return traced
    })
  }

  async #bytes(digest: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.readFile(digest)
    if (bytes === undefined) throw new UntraceableCut(`The file ${digest} of a 3D model is missing or damaged`)
    return bytes
  }

  /** @throws UntraceableCut if the file is missing, damaged or no stone, which retrying does not change; StoreUnavailable */
  readonly draw = (digest: string, request: Omit<PictureRequest, 'subject'>): Promise<Uint8Array> =>
    this.#runExclusively(async () =>
      this.pool.drawInWorker({ ...request, subject: { model: await this.#bytes(digest) } }),
    )

  /** Runs one action at a time, so that only one file is in memory. */
  #runExclusively<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.#lastAction.then(action)
    // The caller gets the error; the next action only waits for the end.
    this.#lastAction = result.catch(() => undefined)
    return result
  }
}
