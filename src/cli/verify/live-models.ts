import { isOfLog } from '../../projections/engine/checkpoint.ts'
import type { Projection } from '../../projections/engine/read-model.ts'
import type { Log } from '../../runtime/log.ts'
import type { EventStore, From } from '../../stores/ports/event-store.ts'
import type { Build, ReadStore } from '../../stores/ports/read-store.ts'
import { Failed } from '../failure.ts'
import { compareModel } from './compare-model.ts'
import { Differences } from './differences.ts'
import { FreshModel } from './fresh-model.ts'

/**
 * A read model folded anew, and how far: to where the live one was when the log began to be gone through, or to the log's head
 * where no live one can be compared with it.
 */
export type Followed = {
  readonly fresh: FreshModel
  readonly to: From
  /** Why there is none; undefined where it is to be compared. */
  readonly absent: string | undefined
}

type Stores = { readonly store: EventStore; readonly reads: ReadStore }

/** A rebuild may switch to another build at any time: tries until one has stayed live. */
const TRIES = 5

/** @param log told what can't be folded */
export async function follow(
  projection: Projection<unknown>,
  { store, reads }: Stores,
  scratch: ReadStore,
  log: Log,
): Promise<Followed> {
  const { declaration } = projection
  const fresh = await FreshModel.open(projection, store, scratch, log)
  const to = await (await reads.model(declaration)).position()
  if (to === 'start') return { fresh, to: await store.head(), absent: 'is not made yet' }
  // Asked only where there is one: asking makes one.
  const checkpoint = await (await reads.live(declaration)).checkpoint()
  if (checkpoint !== undefined && (await isOfLog(store, checkpoint))) return { fresh, to, absent: undefined }
  return { fresh, to: await store.head(), absent: 'is of another log, or of days of this one that a restore took back' }
}

/**
 * Compares what is live with what the log folds to.
 * @param faulty streams of which something is wrong in the log itself
 * @returns how many documents the live build has
 * @throws Failed
 */
export async function compareLive(
  { store, reads }: Stores,
  { fresh, absent }: Followed,
  faulty: ReadonlySet<string>,
  found: Differences,
): Promise<number> {
  const { declaration } = fresh.projection
  if (absent !== undefined) {
    await tellAbsent(fresh, absent, found)
    return 0
  }
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const live = await reads.live(declaration)
    const own = new Differences()
    const documents = await whileLive(reads, fresh, live, () =>
      compareModel({ store, live, fresh, faulty, found: own }),
    )
    if (documents === undefined) continue
    found.take(own)
    return documents
  }
  throw new Failed(`${declaration.name} was made anew again and again meanwhile: run it again`)
}

/** Nothing is missing where the log has nothing for it. */
async function tellAbsent({ build, projection }: FreshModel, absent: string, found: Differences): Promise<void> {
  const { name } = projection.declaration
  for await (const page of build.walk([])) {
    if (page.length === 0) continue
    found.add({ where: name, what: `the read model ${name} ${absent}`, do: 'start the service, which makes it' })
    return
  }
}

/** Undefined where another build was switched to meanwhile, and what was read may have been dropped. */
async function whileLive(
  reads: ReadStore,
  { projection: { declaration } }: FreshModel,
  live: Build,
  compare: () => Promise<number>,
): Promise<number | undefined> {
  try {
    const documents = await compare()
    return (await reads.isLive(declaration, live)) ? documents : undefined
  } catch (error) {
    if (await reads.isLive(declaration, live)) throw error
    return undefined
  }
}
