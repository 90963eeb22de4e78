import type { StoredEvent } from '../../stores/ports/event-store.ts'
import {
  Outdated,
  type Build,
  type DeadLetter,
  type Document,
  type FieldValue,
  type Stored,
  type Table,
  type Write,
} from '../../stores/ports/read-store.ts'
import { EventNumbers } from './account-sequence.ts'
import { letter } from './dead-letter.ts'
import { handles } from './follow.ts'
import type { Projection } from './read-model.ts'

/** What a batch makes of a build. */
export type Folded = {
  readonly writes: readonly Write[]
  readonly letters: readonly DeadLetter[]
  readonly sequences: readonly Write[]
}

/** What a batch is folded over. */
export type Loading = Pick<Build, 'load'> & { readonly sequences: Pick<Table, 'load'> }

/** An event and the document that it belongs to, if any, or why nobody can tell. */
type Keyed = {
  readonly event: StoredEvent
  readonly key: FieldValue | undefined
  readonly begins: boolean
  readonly fault: unknown
}

/** A document of the batch: as it is stored until an event asks for its value. */
type Entry<Value> = {
  readonly over: Stored | undefined
  document: Document | undefined
  value: Value | undefined
  changed: boolean
  revision: bigint
  /** What was folded into it. */
  readonly events: Numbered[]
}

/** An event and its number among its account's. */
type Numbered = { readonly event: StoredEvent; readonly number: number }

/** What gives an event its number. */
type Numbers = Pick<EventNumbers, 'next' | 'note'>

/** Where streams are folded again from their beginnings: their events have been counted. */
const UNNUMBERED: Numbers = { next: () => 0, note: () => undefined }

type Entries<Value> = Map<FieldValue, Entry<Value>>

/**
 * Loads the documents that a run of events touches, folds, and says what to write. Whatever a projection throws for an
 * event, be it that it can't be decoded, folded or shown, sets its stream aside, with everything that comes after it
 * there; other streams go on. What `load` throws is the store's fault, and none of a stream's.
 * @param parked streams set aside so far
 * @throws Outdated where it can't be folded over what was loaded because that was not what stands there
 */
export async function foldBatch<Value>(
  projection: Projection<Value>,
  build: Loading,
  events: readonly StoredEvent[],
  parked: ReadonlySet<string>,
): Promise<Folded> {
  const keyed = events.map((event) => keyedBy(projection, event))
  const stored = await loaded(build, keyed)
  const accounts = accountsOf(projection, keyed, stored)
  const numbers = accounts && (await EventNumbers.load(build.sequences, events, accounts))
  const over = numbers?.isOvertaken === true ? await loaded(build, keyed, 'all') : stored
  return foldOver(projection, build, { keyed, stored: over, parked }, () => numbers?.again())
}

/** Folds streams from their beginnings, over nothing. Their events are not counted again. */
export async function foldAgain<Value>(projection: Projection<Value>, events: readonly StoredEvent[]): Promise<Folded> {
  const keyed = events.map((event) => keyedBy(projection, event))
  return foldOver(projection, { load: async () => [] }, { keyed, stored: [], parked: new Set() }, () => undefined)
}

type Batch = {
  readonly keyed: readonly Keyed[]
  readonly stored: readonly Stored[]
  readonly parked: ReadonlySet<string>
}

async function foldOver<Value>(
  projection: Projection<Value>,
  build: Pick<Build, 'load'>,
  { keyed, stored, parked }: Batch,
  numbersAgain: () => EventNumbers | undefined,
): Promise<Folded> {
  const faults = new Map<StoredEvent, unknown>()
  for (;;) {
    const numbers = numbersAgain()
    const known = { parked, faults, numbers: numbers ?? UNNUMBERED }
    const { entries, letters, faulty } = foldAll(projection, stored, keyed, known)
    const { writes, unshown } = writesOf(projection, entries)
    if (unshown.length === 0) {
      await requireAsLoaded(projection, build, faulty, stored)
      return { writes, letters, sequences: numbers?.writes() ?? [] }
    }
    for (const entry of unshown) {
      const { event, fault } = culpritOf(projection, entry)
      faults.set(event, fault)
    }
  }
}

function keyedBy<Value>(projection: Projection<Value>, event: StoredEvent): Keyed {
  try {
    const key = handles(projection, event) ? projection.keyOf(event) : undefined
    return { event, key, begins: key !== undefined && projection.begins(event), fault: undefined }
  } catch (error) {
    return { event, key: undefined, begins: false, fault: error ?? new Error('nobody can tell its document') }
  }
}

/** The documents that may be there before the batch. */
async function loaded(
  build: Pick<Build, 'load'>,
  keyed: readonly Keyed[],
  which: 'all' | 'as needed' = 'as needed',
): Promise<readonly Stored[]> {
  const known = new Set<FieldValue>()
  const wanted: FieldValue[] = []
  for (const { key, begins } of keyed) {
    if (key === undefined || known.has(key)) continue
    known.add(key)
    if (!begins || which === 'all') wanted.push(key)
  }
  return wanted.length === 0 ? [] : build.load(wanted)
}

/** Whose events may be among these; undefined in a model that counts none. */
function accountsOf<Value>(
  { numbering }: Projection<Value>,
  keyed: readonly Keyed[],
  stored: readonly Stored[],
): Set<number> | undefined {
  if (numbering === undefined) return undefined
  const accounts = new Set(stored.map(({ document }) => numbering.accountOf(document)))
  for (const { event, begins } of keyed) {
    const account = begins ? numbering.beginsFor(event) : undefined
    if (account !== undefined) accounts.add(account)
  }
  return accounts
}

type Known = {
  readonly numbers: Numbers
  readonly parked: ReadonlySet<string>
  /** Events behind which a document can't be shown, found before. */
  readonly faults: ReadonlyMap<StoredEvent, unknown>
}

function foldAll<Value>(
  projection: Projection<Value>,
  stored: readonly Stored[],
  keyed: readonly Keyed[],
  { parked, faults, numbers }: Known,
) {
  const entries: Entries<Value> = new Map()
  for (const over of stored) {
    const key = over.document['id']
    if (key !== undefined) entries.set(key, entryOver(over))
  }
  const letters: DeadLetter[] = []
  const faulty = new Set<FieldValue>()
  const aside = new Set(parked)
  for (const one of keyed) {
    const { event, key, fault } = one
    numbers.note(event)
    if (key === undefined && fault === undefined) continue
    const account = accountOf(projection, entries, one)
    const number = account === undefined ? 0 : numbers.next(account, event)
    try {
      if (aside.has(event.stream)) throw new Error('an earlier event of this stream was set aside')
      if (fault !== undefined) throw fault
      if (faults.has(event)) throw faults.get(event)
      if (key !== undefined) foldInto(projection, entryOf(entries, key), { event, number })
    } catch (error) {
      if (typeof key === 'number' && account !== undefined)
        keepUnshown(projection, entries, key, { event, number }, account)
      if (key !== undefined && !aside.has(event.stream)) faulty.add(key)
      aside.add(event.stream)
      letters.push(letter(event, error))
    }
  }
  return { entries, letters, faulty: [...faulty] }
}

/** Whose an event is: known by what its document is, or would begin with. */
function accountOf<Value>(
  { numbering }: Projection<Value>,
  entries: Entries<Value>,
  { event, key, begins }: Keyed,
): number | undefined {
  if (numbering === undefined || key === undefined) return undefined
  const entry = entries.get(key)
  const known = entry?.document ?? entry?.value
  if (known !== undefined) return numbering.accountOf(known)
  return begins ? numbering.beginsFor(event) : undefined
}

/** What can't be shown from its beginning on still tells whose the events behind it are. */
function keepUnshown<Value>(
  { numbering }: Projection<Value>,
  entries: Entries<Value>,
  key: number,
  { event, number }: Numbered,
  account: number,
): void {
  const entry = entryOf(entries, key)
  if (numbering === undefined || entry.document !== undefined || entry.value !== undefined) return
  entry.document = numbering.unshown(key, account, number)
  entry.changed = true
  entry.revision = event.position.commit
}

/** Before a stream is set aside: it must not be for what the store has not shown. */
async function requireAsLoaded<Value>(
  { declaration }: Projection<Value>,
  build: Pick<Build, 'load'>,
  keys: readonly FieldValue[],
  stored: readonly Stored[],
): Promise<void> {
  if (keys.length === 0) return
  const known = new Map(stored.map(({ document, revision }) => [document['id'] ?? '', revision]))
  for (const { document, revision } of await build.load(keys, 'acknowledged')) {
    const key = document['id'] ?? ''
    const loadedAt = known.get(key)
    if (loadedAt !== undefined && loadedAt !== revision) throw new Outdated(declaration.name, key)
  }
}

const entryOver = <Value>(over: Stored): Entry<Value> => {
  const { document, revision } = over
  return { over, document, value: undefined, changed: false, revision, events: [] }
}

function entryOf<Value>(entries: Entries<Value>, key: FieldValue): Entry<Value> {
  const found = entries.get(key)
  if (found !== undefined) return found
  const fresh = { over: undefined, document: undefined, value: undefined, changed: false, revision: 0n, events: [] }
  entries.set(key, fresh)
  return fresh
}

function foldInto<Value>(projection: Projection<Value>, entry: Entry<Value>, numbered: Numbered): void {
  fold(projection, entry, numbered)
  entry.revision = numbered.event.position.commit
  entry.events.push(numbered)
}

function fold<Value>(projection: Projection<Value>, entry: Entry<Value>, { event, number }: Numbered): void {
  if (entry.document !== undefined) {
    entry.value = projection.fromDocument(entry.document)
    entry.document = undefined
  }
  const value = projection.evolve(entry.value, event, number)
  entry.changed ||= value !== entry.value
  entry.value = value
}

/**
 * What came and went within the batch is removed too: a runner that was stopped before its end may have put it in, or be
 * about to.
 */
function writesOf<Value>(projection: Projection<Value>, entries: Entries<Value>) {
  const writes: Write[] = []
  const unshown: Entry<Value>[] = []
  for (const [key, entry] of entries) {
    if (!entry.changed) continue
    const { over, revision } = entry
    try {
      const put = shown(projection, entry)
      const guard = over === undefined ? { revision } : { revision, over }
      writes.push(put === undefined ? { remove: key, ...guard } : { put, ...guard })
    } catch {
      // It fails again where the event that made it so is looked for, and goes with that into its letter.
      unshown.push(entry)
    }
  }
  return { writes, unshown }
}

const shown = <Value>(projection: Projection<Value>, { document, value }: Entry<Value>): Document | undefined =>
  document ?? (value === undefined ? undefined : projection.toDocument(value))

/** The first event of a document behind which it can't be shown. */
function culpritOf<Value>(projection: Projection<Value>, { over, events }: Entry<Value>) {
  const again: Entry<Value> = over === undefined ? entryOf(new Map(), '') : entryOver(over)
  for (const numbered of events) {
    try {
      foldInto(projection, again, numbered)
      shown(projection, again)
    } catch (error) {
      return { event: numbered.event, fault: error ?? new Error('it can not be shown') }
    }
  }
  const last = events.at(-1)
  if (last === undefined) throw new Error('a document that nothing was folded into is as it was')
  return { event: last.event, fault: new Error('it could not be shown, and then it could: a projection must be pure') }
}
