import { openWork, type Declared, type Stores, type Wakes } from '../../../src/projections/engine/followers.ts'
import { neverAborted, type Routine } from '../../../src/projections/engine/loop.ts'
import type { React, Reaction } from '../../../src/projections/engine/reaction.ts'
import { openLog } from '../../../src/runtime/log.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import type { ReadStore } from '../../../src/stores/ports/read-store.ts'

/** For reactions that keep nothing with the read models. */
const none = {} as ReadStore

/** Starts reactions and routines as the service does. @returns what stops them */
export async function working<Tools>(
  { reactions = [], routines = [] }: Partial<Declared<Tools>>,
  toolsWith: (wakes: Wakes) => Tools,
  { store, reads = none }: { readonly store: EventStore; readonly reads?: ReadStore },
): Promise<() => Promise<void>> {
  const stores: Stores = { store, reads, log: openLog('silent') }
  const work = await openWork({ reactions, routines }, toolsWith, stores)
  await Promise.all(work.map((each) => each.start()))
  return async () => void (await Promise.all(work.map((each) => each.stop())))
}

/** One round of each of these routines, together. @throws the first of what failed */
export async function oneRound<Tools>(routines: readonly Routine<Tools>[], tools: Tools): Promise<void> {
  const outcomes = await Promise.allSettled(routines.map((routine) => routine.doing(tools)(neverAborted())))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

/** What a reaction does with events, without what runs it. */
export function reactionOf<Tools>(declared: Reaction<Tools>, tools: Tools): React {
  if ('reacting' in declared) return declared.reacting(tools)
  throw new Error(`${declared.name} keeps its checkpoint itself`)
}
