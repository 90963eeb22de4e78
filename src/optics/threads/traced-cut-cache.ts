import { LRUCache } from 'lru-cache'
import { cutKey, type Cut } from '../cut/cut.ts'
import { possibleCut } from '../cut/possible-cut.ts'
import { ImpossibleProportions } from '../cut/proportions.ts'
import { findTracedCut } from '../score.ts'
import type { TracedCut } from '../cut/trace-cut.ts'
import type { TracePool } from './trace-pool.ts'

const MAX_CACHED_CUTS = 20_000

/** Traced cuts, from the shipped table, or traced once in a worker and cached. */
export class TracedCutCache {
  readonly #cache = new LRUCache<string, { readonly traced: TracedCut | null }>({ max: MAX_CACHED_CUTS })
  readonly #pending = new Map<string, Promise<TracedCut | null>>()

  constructor(
    private readonly pool: Pick<TracePool, 'traceInWorker'>,
    private readonly onImpossible: (cut: Cut, reason: string) => void,
  ) {}

  /** A cut that need not be traced; undefined if it must be. null: see `trace`. */
  find(cut: Cut): TracedCut | null | undefined {
    return findTracedCut(cut) ?? this.#cache.get(cutKey(cut))?.traced
  }

  /**
   * If no stone can have a report's measurements, uses as many as possible (`possibleCut`). null if the nominal
   * proportions are impossible too.
   */
  async trace(cut: Cut): Promise<TracedCut | null> {
    const known = this.find(cut)
    if (known !== undefined) return known
    const key = cutKey(cut)
    const pending = this.#pending.get(key)
    if (pending !== undefined) return pending
    const tracing = this.#traceOrNominal(cut)
      .then((traced) => this.#store(key, traced))
      .finally(() => this.#pending.delete(key))
    this.#pending.set(key, tracing)
    return tracing
  }

  async #traceOrNominal(cut: Cut): Promise<TracedCut | null> {
    try {
      return await this.pool.traceInWorker(cut)
    } catch (error) {
      if (!(error instanceof ImpossibleProportions)) throw error
      this.onImpossible(cut, error.message)
      if (cut.measured === undefined) return null
      const { measured: _measured, ...nominal } = cut
      const possible = possibleCut(cut)
      return this.trace(possible === cut ? nominal : possible)
    }
  }

  #store(key: string, traced: TracedCut | null): TracedCut | null {
    this.#cache.set(key, { traced })
    return traced
  }
}
