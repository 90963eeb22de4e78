import { logLineage, readEpoch } from '../events/lineage.ts'
import { checkJoined, StrangeStores } from '../commands/installation/join-stores.ts'
import { CHECKPOINTED } from './followers.ts'
import { joinedOf, type Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { checkPast, LogSetBack, witnessesIn, type Witness } from '../projections/engine/log-past.ts'
import { StoreUnavailable } from '../stores/ports/event-store.ts'
import type { Seen } from '../stores/ports/seen.ts'

const ORIGIN = { actor: 'service', via: 'projection', correlation: 'stores' } as const

/** Milliseconds between two looks at whether the log still is the one that was seen. */
const LOOK = 2_000
/** Looks in a row that must find it so: a server that is just coming back may not have all of its log yet. */
const SURE = 3

export type PastWatch = {
  /** Resolves when this process must not go on: the log was set back, or restored, or has other stores than it had. */
  readonly over: Promise<Error>
}

/**
 * Holds that the log knows all that was seen of it, at the start and from then on, and that vault and files are its own; puts
 * on record what is seen.
 * @throws LogSetBack, StrangeStores, StoreUnavailable for the log; read models that are away are asked as soon as they are there
 */
export async function openPastWatch(installation: Installation, parts: OpenParts): Promise<PastWatch> {
  const watch = new Watch(installation)
  await watch.begin()
  parts.add({ stage: 'views', name: 'past', stop: () => watch.stop() })
  return { over: watch.over }
}

class Watch {
  readonly over: Promise<Error>
  #tell!: (error: Error) => void
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #stopped = false
  #epoch = 0
  #asked = false
  #seen: Seen | undefined
  #found = 0

  constructor(private readonly installation: Installation) {
    this.over = new Promise((resolve) => (this.#tell = resolve))
  }

  async begin(): Promise<void> {
    const { store, seen } = this.installation
    this.#epoch = await readEpoch(store)
    const last = seen.last()
    if (last !== undefined) await checkPast(store, [{ who: 'this folder', ...last }])
    await this.#askOthers()
    await this.#see()
    this.#later()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#looking
    await this.#look()
  }

  #later(): void {
    if (!this.#stopped) this.#timer = setTimeout(() => (this.#looking = this.#look()), LOOK).unref()
  }

  async #look(): Promise<void> {
    try {
      if (!this.#asked) await this.#askOthers()
      await this.#mustGoOn()
      await this.#see()
      this.#found = 0
    } catch (error) {
      if (error instanceof LogSetBack || error instanceof StrangeStores) this.#suspect(error)
      // A store that is away is looked at again; whoever needs it tells of it.
      else if (!(error instanceof StoreUnavailable)) {
        this.installation.log.warn({ err: error }, 'what was seen of the log could not be put on record')
      }
    }
    this.#later()
  }

  #suspect(error: Error): void {
    if (++this.#found >= SURE) this.#tell(error)
  }

  async #askOthers(): Promise<void> {
    const { store, reads, vault } = this.installation
    let witnesses: Witness[]
    try {
      witnesses = await witnessesIn(reads, CHECKPOINTED, vault)
    } catch (error) {
      if (error instanceof StoreUnavailable) return
      throw error
    }
    await checkPast(store, witnesses)
    this.#asked = await this.#checkStores()
  }

  /** @returns false where the stores are away @throws StrangeStores */
  async #checkStores(): Promise<boolean> {
    const { writing, log } = this.installation
    try {
      const found = await checkJoined({ ...writing, origin: ORIGIN }, await joinedOf(this.installation))
      if (found === 'vault lost') log.warn('the vault was lost and is a new one: one-time secrets that waited are gone')
      return true
    } catch (error) {
      if (error instanceof StoreUnavailable && !(error instanceof StrangeStores)) return false
      throw error
    }
  }

  async #mustGoOn(): Promise<void> {
    const { store } = this.installation
    if (this.#seen !== undefined) await checkPast(store, [{ who: 'this process', ...this.#seen }])
    if ((await readEpoch(store)) === this.#epoch) return
    throw new LogSetBack('The log was restored while this process ran, which knows what is lost: start it again')
  }

  async #see(): Promise<void> {
    const { store, seen } = this.installation
    const head = await store.head()
    const newest = head === 'start' ? undefined : await store.eventAt(head)
    const closed = await store.closed()
    const fence = closed?.why === 'fenced' ? { copy: closed.copy, to: closed.to } : null
    if (newest === undefined || (newest.id === this.#seen?.event?.id && fence?.copy === this.#seen.fence?.copy)) return
    const now: Seen = { log: await logLineage(store), event: { id: newest.id, position: newest.position }, fence }
    this.#seen = now
    seen.note(now)
  }
}
