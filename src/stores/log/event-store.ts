import type { Append, EventLog, EventStore, From } from '../ports/event-store.ts'
import { withClosing } from './closing.ts'
import { mustBeStorable } from './event-text.ts'
import { closedIn } from './fence.ts'
import { Identity } from './identity.ts'

/** What an engine's adapter says of itself. */
export type Engine = {
  /** For people. */
  readonly name: string
  /** When the log gets its first event: a file is made with it, a server's log by the first who appends. */
  readonly isBorn: 'with its file' | 'at its first append'
  /** Its first event is copied into it, and whatever it says of itself it takes appends. */
  readonly filling: boolean
  readonly fenceDelay: number
  /** Told of each append of this process, before its caller is. */
  readonly appended?: (stream: string) => void
  readonly refusal?: () => string | undefined
  readonly heardAt?: () => number
}

/** What every log has, whatever engine holds it: an identity, a fence, and an end. */
export function eventStoreOn<Head extends From | Promise<From>>(
  store: EventLog<Head>,
  { name, isBorn, filling, fenceDelay, appended, refusal, heardAt }: Engine,
): EventStore<Head> {
  const isUnborn = isBorn === 'at its first append' && !filling
  const identity = new Identity(store, name, isUnborn)
  /** What can't be stored makes no log either. */
  const before = async (appends: readonly Append[]) => {
    if (identity.isKnown) return
    for (const append of appends) mustBeStorable(append)
    await identity.get()
  }
  const whole: EventStore<Head> = {
    ...store,
    ...(isUnborn || appended !== undefined ? aroundAppends(store, isUnborn ? before : undefined, appended) : {}),
    identity: () => identity.get(),
    closed: () => closedIn(store, isBorn === 'with its file' ? 'is being filled' : 'is new'),
    refusal: async () => refusal?.(),
    fenceDelay,
    ...(heardAt !== undefined && { heardAt }),
  }
  return withClosing(whole, name)
}

const aroundAppends = (
  store: Pick<EventLog, 'append' | 'appendMany'>,
  before: ((appends: readonly Append[]) => Promise<void>) | undefined,
  appended: Engine['appended'],
): Pick<EventLog, 'append' | 'appendMany'> => ({
  async append(stream, expected, events) {
    await before?.([{ stream, expected, events }])
    const position = await store.append(stream, expected, events)
    appended?.(stream)
    return position
  },
  async appendMany(appends, ...asked) {
    if (appends.length > 0) await before?.(appends)
    const positions = await store.appendMany(appends, ...asked)
    for (const { stream } of appends) appended?.(stream)
    return positions
  },
})
