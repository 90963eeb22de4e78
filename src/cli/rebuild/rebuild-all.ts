import type { Stores } from '../../projections/engine/followers.ts'
import type { Projection } from '../../projections/engine/read-model.ts'
import { shareReads } from '../../projections/engine/shared-read.ts'
import type { From } from '../../stores/ports/event-store.ts'
import { explain } from '../failure.ts'
import { rebuildModel, type Rebuilt, type RebuildOptions } from './rebuild-model.ts'

/** Milliseconds that models of one read wait for the slowest of them: nobody else waits for any of them. */
const PATIENCE = 600_000

/** faults: what kept the others back, in words. */
export type Outcome = { readonly rebuilt: readonly Rebuilt[]; readonly faults: readonly string[] }

export type Options = Omit<RebuildOptions, 'told'> & {
  /** Is told of each batch of each model. */
  readonly told: (model: string, events: number, position: From) => void
}

/** Rebuilds models in one read of the log, each by itself: what one of them fails for keeps no other back. */
export async function rebuildAll(
  stores: Stores,
  models: readonly Projection<unknown>[],
  { told, ...options }: Options,
): Promise<Outcome> {
  const alone = models.length === 1
  const store = alone ? stores.store : shareReads(stores.store, { gather: 100, patience: PATIENCE, kept: 8_000 })
  const outcomes = await Promise.allSettled(
    models.map((model) =>
      rebuildModel({ ...stores, store }, model, {
        ...options,
        told: (events, position) => told(model.declaration.name, events, position),
      }),
    ),
  )
  return {
    rebuilt: outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])),
    faults: outcomes.flatMap((outcome, index) =>
      outcome.status === 'rejected'
        ? [`${models[index]?.declaration.name} was not rebuilt: ${explain(outcome.reason)}`]
        : [],
    ),
  }
}
