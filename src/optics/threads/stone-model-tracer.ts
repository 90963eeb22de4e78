import { LRUCache } from 'lru-cache'
import { Semaphore } from '../../runtime/fairness/semaphores.ts'
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
  /** One permit, so that only one file is in memory. */
  readonly #turns = new Semaphore(1)

  /** @param readFile reads a file from the store by its digest; undefined if it is missing or damaged */
  constructor(
    private readonly pool: Pick<TracePool, 'inspectInWorker' | 'traceModelInWorker' | 'drawInWorker'>,
    private readonly readFile: (digest: string) => Promise<Uint8Array<ArrayBuffer> | undefined>,
  ) {}

  /** @throws InvalidMesh if the file is not a model of a stone; StoreUnavailable */
  readonly inspect = (digest: string): Promise<StoneModelProperties> =>
    this.#turns.run(async () => this.pool.inspectInWorker(await this.#bytes(digest)))

  /** The result of an earlier `trace`, if it is cached. */
  find(digest: string, fold: SymmetryFold | undefined): TracedCut | undefined {
    return this.#cache.get(`${digest}/${fold}`)
  }

  /** @throws UntraceableCut if the file is missing, damaged or no stone, which retrying does not change; StoreUnavailable */
  trace(digest: string, fold: SymmetryFold | undefined): Promise<TracedCut> {
    return this.#turns.run(async () => {
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
    this.#turns.run(async () => this.pool.drawInWorker({ ...request, subject: { model: await this.#bytes(digest) } }))
}
