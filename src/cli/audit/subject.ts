import { Command, Option } from 'commander'
import type { Fold, DomainEvent } from '../../domain/fold.ts'
import { decode, isDecodeError } from '../../events/decode.ts'
import { eventTimeOf } from '../../events/event-metadata.ts'
import { BadUsage } from '../../maintenance/operation.ts'
import {
  changesBetween,
  operatorFieldsOf,
  formatEventTime,
  type FieldChange,
  type HistoryEntry,
  type HistoryState,
} from '../../projections/history/history-entry.ts'
import type { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { fieldDisplayValue } from '../../representations/diamond/display-value.ts'
import { formatTime } from '../../representations/json.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import { withInstallation, type OpenInstallation } from '../with-installation.ts'
import { formatQuantity, note, printResult, table, type OutputOptions } from '../output.ts'
import { parseUntil } from '../times.ts'

/** A table with one line per entry, and one more for each further change. */
export function entriesTable(entries: readonly HistoryEntry[]): string {
  const streams = new Set(entries.map(({ stream }) => stream))
  const formatRevision = ({ stream, revision }: HistoryEntry) =>
    streams.size > 1 ? `${stream}@${revision}` : String(revision)
  const rows = entries.flatMap((entry) => {
    const [first = '', ...more] = changeLinesOf(entry)
    const { at, type, request, trace } = entry
    const requestText = trace === undefined ? request : `${request} (trace ${trace})`
    return [
      [at, formatRevision(entry), type, actorText(entry), requestText, first],
      ...more.map((line) => [...BLANK, line]),
    ]
  })
  return table(['when', streams.size > 1 ? 'where' : 'rev', 'what', 'who', 'request', 'changes'], rows)
}

const BLANK = ['', '', '', '', '']

function changeLinesOf({ undecoded, detail, changes }: HistoryEntry): string[] {
  if (undecoded !== undefined) return [`cannot be decoded: ${undecoded}`]
  return [...(detail === undefined || detail === '' ? [] : [detail]), ...changes.map(changeText)]
}

/** `ann@example.com through Stock sync via http`, `operator alice via cli` */
function actorText({ by, osUser }: Pick<HistoryEntry, 'by' | 'osUser'>): string {
  if (by === null) return 'the service'
  const actor = by.account ?? (by.via === 'cli' ? `operator ${osUser ?? ''}`.trim() : 'anonymous')
  return `${actor}${by.client === null ? '' : ` through ${by.client}`} via ${by.via}`
}

const changeText = ({ field, from, to }: FieldChange) =>
  `${field}: ${fieldDisplayValue(field, from)} -> ${fieldDisplayValue(field, to)}`

const changesTable = (changes: readonly FieldChange[]): string =>
  changes.length === 0
    ? 'No differences.'
    : table(
        ['field', 'from', 'to'],
        changes.map(({ field, from, to }) => [field, fieldDisplayValue(field, from), fieldDisplayValue(field, to)]),
      )

const stateTable = (state: HistoryState): string =>
  state === null
    ? 'It did not exist at that time.'
    : table(
        ['field', 'value'],
        Object.entries(state).flatMap(([field, value]) =>
          Array.isArray(value)
            ? value.map((one: unknown) => [field, fieldDisplayValue(field, one)])
            : [[field, fieldDisplayValue(field, value)]],
        ),
      )

/** The history of one entity, read from the log. Times are milliseconds since 1970, inclusive. */
export type AuditHistory = {
  /** Oldest first. */
  entries(): Promise<readonly HistoryEntry[]>
  /** null if it did not exist. Absent for entities without a state worth showing. */
  stateAt?(until: number): HistoryState
  /** Replaces the comparison of the two states. */
  changes?(from: number, to: number): readonly FieldChange[]
}

/** A subcommand of `audit`: a kind of entity with a history. */
export type AuditSubject = {
  readonly name: string
  readonly description: string
  readonly idDescription: string
  /** An example of an id. */
  readonly example: string
  /** @throws RequestError `missing`, or `invalid` for an id of the wrong format */
  loadHistory(installation: Pick<Installation, 'store' | 'people'>, id: string): Promise<AuditHistory>
}

type AuditOptions = OutputOptions & { readonly at?: number; readonly diff?: readonly number[] }

/** `audit SUBJECT ID`, a subcommand of `audit`. */
export function subjectCommand(open: OpenInstallation, subject: AuditSubject): Command {
  const { name, description, idDescription, example } = subject
  return new Command(name)
    .description(description)
    .argument('<id>', idDescription)
    .addOption(
      new Option('--at <time>', 'Show the state at the end of this time instead: ISO 8601 time or date').argParser(
        parseUntil,
      ),
    )
    .addOption(
      new Option('--diff <times...>', 'Show the differences between two times instead').argParser(
        (text, before?: readonly number[]) => [...(before ?? []), parseUntil(text)],
      ),
    )
    .addHelpText(
      'after',
      `\nExamples:\n  adamant audit ${name} ${example}\n  adamant audit ${name} ${example} --at 2026-11-22T10:00:00Z`,
    )
    .action((id: string, options: AuditOptions) => runAudit(open, subject, id, options))
}

async function runAudit(
  open: OpenInstallation,
  subject: AuditSubject,
  id: string,
  options: AuditOptions,
): Promise<void> {
  const { at, diff } = options
  if (at !== undefined && diff !== undefined) throw new BadUsage('Give --at or --diff, not both')
  if (diff !== undefined && diff.length !== 2) throw new BadUsage(`--diff takes two times, got ${diff.length}`)
  await withInstallation(open, async (installation) => {
    const history = await subject.loadHistory(installation, id)
    if (at !== undefined) await printState(history, subject, at, options)
    else if (diff !== undefined) await printDifference(history, subject, diff, options)
    else {
      const entries = await history.entries()
      printResult(options, entries, entriesTable(entries))
    }
  })
}

async function printState(
  history: AuditHistory,
  subject: AuditSubject,
  at: number,
  options: OutputOptions,
): Promise<void> {
  const state = requireStateAt(history, subject)(at)
  const undecodedCount = await countUndecodedEvents(history, -Infinity, at)
  printResult(options, { at: formatTime(at), state, ...undecodedCount }, stateTable(state))
}

async function printDifference(
  history: AuditHistory,
  subject: AuditSubject,
  [from = 0, to = 0]: readonly number[],
  options: OutputOptions,
): Promise<void> {
  const stateAt = requireStateAt(history, subject)
  const changes = history.changes?.(from, to) ?? changesBetween(stateAt(from), stateAt(to))
  const undecodedCount = await countUndecodedEvents(history, Math.min(from, to), Math.max(from, to))
  printResult(
    options,
    { from: formatTime(from), to: formatTime(to), changes, ...undecodedCount },
    changesTable(changes),
  )
}

/** Counts the events in (after, until] that this release cannot decode and that the states therefore lack; notes them on stderr. */
async function countUndecodedEvents(
  history: AuditHistory,
  after: number,
  until: number,
): Promise<{ readonly undecoded?: number }> {
  const isInRange = (at: string) => !(Date.parse(at) <= after) && !(Date.parse(at) > until)
  const { length } = (await history.entries()).filter(({ undecoded, at }) => undecoded !== undefined && isInRange(at))
  if (length === 0) return {}
  note(`Ignored ${formatQuantity(length, 'event')} that this release cannot decode (listed without --at and --diff)`)
  return { undecoded: length }
}

/** @throws BadUsage */
function requireStateAt(history: AuditHistory, { name }: AuditSubject): NonNullable<AuditHistory['stateAt']> {
  if (history.stateAt === undefined) throw new BadUsage(`audit ${name} does not support --at and --diff`)
  return history.stateAt
}

/** Presents the events of one kind of entity. `evolve` also receives events of other types if an entity has several streams. */
export type AuditPresenter<Folded, Event extends DomainEvent> = Fold<Folded, Event> & {
  /** The members to show, in order, with titles instead of ids; never credentials. */
  readonly describeState: (state: Folded) => HistoryState
  /** Labels by event type. */
  readonly eventLabels: Readonly<Record<string, string>>
  /** Details that no member of the state shows. */
  readonly detail?: (event: Event, stored: StoredEvent) => string | Promise<string>
}

/** An event with the states before and after it. */
export type AuditFoldStep<Folded, Event> = {
  readonly stored: StoredEvent
  readonly before: Folded
  readonly after: Folded
  /** Why the event cannot be decoded; it then does not change the state. */
  readonly undecoded: string | undefined
  readonly event: Event | undefined
}

/** Folds events one by one. An event that cannot be decoded has a step, but does not change the state. */
export function foldSteps<Folded, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  { initialState, evolve }: Fold<Folded, Event>,
): AuditFoldStep<Folded, Event>[] {
  let after = initialState
  return events.map((stored) => {
    const before = after
    const { event, undecoded } = tryDecode<Event>(stored)
    if (event !== undefined) after = evolve(before, event)
    return { stored, before, after, event, undecoded }
  })
}

function tryDecode<Event extends DomainEvent>(stored: StoredEvent) {
  try {
    return { event: decode<Event>(stored), undecoded: undefined }
  } catch (error) {
    if (!isDecodeError(error)) throw error
    return { event: undefined, undecoded: error.message }
  }
}

export async function toAuditEntry<Folded, Event extends DomainEvent>(
  { stored, before, after, event, undecoded }: AuditFoldStep<Folded, Event>,
  {
    describeState,
    eventLabels,
    detail,
  }: Pick<AuditPresenter<Folded, Event>, 'describeState' | 'eventLabels' | 'detail'>,
  actorResolver: ActorResolver,
): Promise<HistoryEntry> {
  const { stream, revision, type, metadata } = stored
  const { $correlationId: request = '' } = metadata
  const detailText = event === undefined ? '' : ((await detail?.(event, stored)) ?? '')
  return {
    stream,
    revision: Number(revision),
    at: formatEventTime(stored),
    type: event === undefined ? type : (eventLabels[type] ?? type),
    by: await actorResolver.actorOf(stored),
    request,
    changes: event === undefined ? [] : changesBetween(describeState(before), describeState(after)),
    ...(detailText !== '' && { detail: detailText }),
    ...operatorFieldsOf(stored),
    ...(undecoded !== undefined && { undecoded }),
  }
}

/** A history with an entry for every event. */
export function foldHistory<Folded, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  presenter: AuditPresenter<Folded, Event>,
  actorResolver: ActorResolver,
): AuditHistory {
  const steps = foldSteps(events, presenter)
  return {
    entries: () => Promise.all(steps.map((step) => toAuditEntry(step, presenter, actorResolver))),
    stateAt: createStateLookup(steps, presenter),
  }
}

/** The state at a time in milliseconds since 1970, inclusive. */
export const createStateLookup =
  <Folded, Event extends DomainEvent>(
    steps: readonly AuditFoldStep<Folded, Event>[],
    { initialState, describeState }: Pick<AuditPresenter<Folded, Event>, 'initialState' | 'describeState'>,
  ) =>
  (until: number): HistoryState =>
    describeState(steps.findLast(({ stored }) => eventTimeOf(stored) <= until)?.after ?? initialState)
