import { LRUCache } from 'lru-cache'
import { cutKey, type Cut } from '../domain/scoring/cut/cut.ts'
import { possibleCut } from '../domain/scoring/cut/possible.ts'
import { ImpossibleProportions } from '../domain/scoring/cut/proportions.ts'
import { tabled } from '../domain/scoring/score.ts'
import type { TracedCut } from '../domain/scoring/cut/trace-cut.ts'
import type { TracePool } from './trace-pool.ts'

/** Cuts kept at most; each has a dozen numbers. */
const KEPT = 20_000

/** Traced cuts: of the shipped table, or traced once in a worker and kept. */
export class CutTraces {
  readonly #kept = new LRUCache<string, { readonly traced: TracedCut | null }>({ max: KEPT })
  readonly #underWay = new Map<string, Promise<TracedCut | null>>()

  constructor(
    private readonly pool: Pick<TracePool, 'traceInWorker'>,
    private readonly impossible: (cut: Cut, reason: string) => void,
  ) {}

  /**
   * At once where the cut is known. Where no stone can have the measures of a report, as much of them as one can have:
   * `possibleCut`. null where its grade's nominal ones are impossible too.
   */
  readonly of = (cut: Cut): TracedCut | null | Promise<TracedCut | null> => {
    const known = tabled(cut)
    if (known !== undefined) return known
    const key = cutKey(cut)
    const kept = this.#kept.get(key)
    return kept === undefined ? (this.#underWay.get(key) ?? this.#trace(cut, key)) : kept.traced
  }

  #trace(cut: Cut, key: string): Promise<TracedCut | null> {
    const tracing = this.#traceOrNominal(cut)
      .then((traced) => this.#keep(key, traced))
      .finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, tracing)
    return tracing
  }

  async #traceOrNominal(cut: Cut): Promise<TracedCut | null> {
    try {
      return await this.pool.traceInWorker(cut)
    } catch (error) {
      if (!(error instanceof ImpossibleProportions)) throw error
      this.impossible(cut, error.message)
      if (cut.measured === undefined) return null
      const { measured: _measured, ...nominal } = cut
      const possible = possibleCut(cut)
      return this.of(possible === cut ? nominal : possible)
    }
  }

  #keep(key: string, traced: TracedCut | null): TracedCut | null {
    this.#kept.set(key, { traced })
    return traced
  }
}
