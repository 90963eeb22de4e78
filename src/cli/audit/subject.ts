import { Command, Option } from 'commander'
import type { Decider, DomainEvent } from '../../domain/decider.ts'
import { decode, isUndecodable } from '../../events/decode.ts'
import { timeOf } from '../../events/origin.ts'
import { BadUsage } from '../../maintenance/operation.ts'
import {
  changesBetween,
  forOperators,
  shownSeconds,
  shownTime,
  type Change,
  type Entry,
  type State,
} from '../../projections/history/entry.ts'
import type { Who } from '../../projections/history/who.ts'
import { toldValue } from '../../representations/diamond/value.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Installation } from '../../wiring/installation.ts'
import { withInstallation, type Open } from '../installed.ts'
import { note, printResult, table, type OutputOptions } from '../output.ts'
import { readUntil } from '../times.ts'

/** Entries for people: a line for each, and one for each further thing that changed. */
export function entriesTable(entries: readonly Entry[]): string {
  const things = new Set(entries.map(({ stream }) => stream.replace(/^scores-/, 'diamond-')))
  const placeOf = ({ stream, revision }: Entry) => (things.size > 1 ? `${stream}@${revision}` : String(revision))
  const rows = entries.flatMap((entry) => {
    const [first = '', ...more] = saidOf(entry)
    const { at, type, request, trace } = entry
    const asked = trace === undefined ? request : `${request} (trace ${trace})`
    return [[at, placeOf(entry), type, whoText(entry), asked, first], ...more.map((line) => [...BLANK, line])]
  })
  return table(['when', things.size > 1 ? 'where' : 'rev', 'what', 'who', 'request', 'changes'], rows)
}

const BLANK = ['', '', '', '', '']

function saidOf({ undecoded, detail, changes }: Entry): string[] {
  if (undecoded !== undefined) return [`can not be understood: ${undecoded}`]
  return [...(detail === undefined || detail === '' ? [] : [detail]), ...changes.map(changeText)]
}

/** `ann@example.com through Stock sync via http`, `operator alice via cli` */
function whoText({ by, osUser }: Pick<Entry, 'by' | 'osUser'>): string {
  if (by === null) return 'the service'
  const who = by.account ?? (by.via === 'cli' ? `operator ${osUser ?? ''}`.trim() : 'nobody known')
  return `${who}${by.client === null ? '' : ` through ${by.client}`} via ${by.via}`
}

const changeText = ({ field, from, to }: Change) => `${field}: ${toldValue(field, from)} -> ${toldValue(field, to)}`

/** What differs between two times. */
const changesTable = (changes: readonly Change[]): string =>
  changes.length === 0
    ? 'Nothing differs.'
    : table(
        ['field', 'from', 'to'],
        changes.map(({ field, from, to }) => [field, toldValue(field, from), toldValue(field, to)]),
      )

/** What a thing was. */
const stateTable = (state: State): string =>
  state === null
    ? 'It was not there at that time.'
    : table(
        ['field', 'value'],
        Object.entries(state).flatMap(([field, value]) =>
          Array.isArray(value)
            ? value.map((one: unknown) => [field, toldValue(field, one)])
            : [[field, toldValue(field, value)]],
        ),
      )

/** What happened to one thing, read from the log. Times are milliseconds since 1970, each included. */
export type Past = {
  /** All of them, oldest first. */
  entries(): Promise<readonly Entry[]>
  /** null where there was no such thing. Left out for what has no state worth showing. */
  stateAt?(until: number): State
  /** Where it is not simply what differs between two states. */
  changes?(from: number, to: number): readonly Change[]
}

/** A kind of thing that can be asked about. */
export type Subject = {
  readonly name: string
  readonly about: string
  /** What ID may be. */
  readonly id: string
  /** An id. */
  readonly example: string
  /** @throws Refusal missing, invalid for what is no id */
  past(installation: Pick<Installation, 'store' | 'people'>, id: string): Promise<Past>
}

type AuditOptions = OutputOptions & { readonly at?: number; readonly diff?: readonly number[] }

/** `audit SUBJECT ID`, to be put under `audit`. */
export function subjectCommand(open: Open, subject: Subject): Command {
  const { name, about, id, example } = subject
  return new Command(name)
    .description(about)
    .argument('<id>', id)
    .addOption(new Option('--at <time>', 'the state at the end of this time: ISO 8601, or a day').argParser(readUntil))
    .addOption(
      new Option('--diff <times...>', 'what differs between two times').argParser(
        (text, before?: readonly number[]) => [...(before ?? []), readUntil(text)],
      ),
    )
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  npx adamant audit ${name} ${example}\n  npx adamant audit ${name} ${example} --at 2026-11-22T10:00:00Z`,
    )
    .action((asked: string, options: AuditOptions) => audit(open, subject, asked, options))
}

async function audit(open: Open, subject: Subject, id: string, options: AuditOptions): Promise<void> {
  const { at, diff } = options
  if (at !== undefined && diff !== undefined) throw new BadUsage('Give --at or --diff, not both')
  if (diff !== undefined && diff.length !== 2) throw new BadUsage(`--diff takes two times, got ${diff.length}`)
  await withInstallation(open, async (installation) => {
    const past = await subject.past(installation, id)
    if (at !== undefined) await printState(past, subject, at, options)
    else if (diff !== undefined) await printDifference(past, subject, diff, options)
    else {
      const entries = await past.entries()
      printResult(options, entries, entriesTable(entries))
    }
  })
}

async function printState(past: Past, subject: Subject, at: number, options: OutputOptions): Promise<void> {
  const state = statesOf(past, subject)(at)
  const unknown = await undecodedIn(past, -Infinity, at)
  printResult(options, { at: timeText(at), state, ...unknown }, stateTable(state))
}

async function printDifference(
  past: Past,
  subject: Subject,
  [from = 0, to = 0]: readonly number[],
  options: OutputOptions,
): Promise<void> {
  const stateAt = statesOf(past, subject)
  const changes = past.changes?.(from, to) ?? changesBetween(stateAt(from), stateAt(to))
  const unknown = await undecodedIn(past, Math.min(from, to), Math.max(from, to))
  printResult(options, { from: timeText(from), to: timeText(to), changes, ...unknown }, changesTable(changes))
}

/** How many events between two times, the later included, are in no state, since they can't be understood; said on stderr. */
async function undecodedIn(past: Past, after: number, until: number): Promise<{ readonly undecoded?: number }> {
  const isIn = (at: string) => !(Date.parse(at) <= after) && !(Date.parse(at) > until)
  const { length } = (await past.entries()).filter(({ undecoded, at }) => undecoded !== undefined && isIn(at))
  if (length === 0) return {}
  note(
    `${length} events can not be understood by this release: what they changed is not in it (without --at and --diff they are told)`,
  )
  return { undecoded: length }
}

/** @throws BadUsage */
function statesOf(past: Past, { name }: Subject): NonNullable<Past['stateAt']> {
  if (past.stateAt === undefined) throw new BadUsage(`audit ${name} has no state to show: leave out --at and --diff`)
  return past.stateAt
}

const timeText = (ms: number) => shownSeconds(Math.floor(ms / 1000))

/** How the events of one kind of thing are told. `evolve` is given events of other kinds too, where a thing has several streams. */
export type Telling<Folded, Event extends DomainEvent> = Decider<Folded, Event> & {
  /** What people are shown of it: its members in their order, in titles; nothing that lets anybody in. */
  readonly shown: (state: Folded) => State
  /** What each type of event is called. */
  readonly words: Readonly<Record<string, string>>
  /** What no member shows. */
  readonly detail?: (event: Event, stored: StoredEvent) => string | Promise<string>
}

/** An event, and what it made of the thing. */
export type Step<Folded, Event> = {
  readonly stored: StoredEvent
  readonly before: Folded
  readonly after: Folded
  /** Why it can't be understood: it left the thing as it was. */
  readonly undecoded: string | undefined
  readonly event: Event | undefined
}

/** Folds a thing event by event. One that can't be understood is left out of the state, and keeps its place. */
export function foldedSteps<Folded, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  { initialState, evolve }: Decider<Folded, Event>,
): Step<Folded, Event>[] {
  let after = initialState
  return events.map((stored) => {
    const before = after
    const { event, undecoded } = understood<Event>(stored)
    if (event !== undefined) after = evolve(before, event)
    return { stored, before, after, event, undecoded }
  })
}

function understood<Event extends DomainEvent>(stored: StoredEvent) {
  try {
    return { event: decode<Event>(stored), undecoded: undefined }
  } catch (error) {
    if (!isUndecodable(error)) throw error
    return { event: undefined, undecoded: error.message }
  }
}

/** An event as an entry of a history. */
export async function entryOf<Folded, Event extends DomainEvent>(
  { stored, before, after, event, undecoded }: Step<Folded, Event>,
  { shown, words, detail }: Pick<Telling<Folded, Event>, 'shown' | 'words' | 'detail'>,
  who: Who,
): Promise<Entry> {
  const { stream, revision, type, metadata } = stored
  const { $correlationId: request = '' } = metadata
  const said = event === undefined ? '' : ((await detail?.(event, stored)) ?? '')
  return {
    stream,
    revision: Number(revision),
    at: shownTime(stored),
    type: event === undefined ? type : (words[type] ?? type),
    by: await who.of(stored),
    request,
    changes: event === undefined ? [] : changesBetween(shown(before), shown(after)),
    ...(said !== '' && { detail: said }),
    ...forOperators(stored),
    ...(undecoded !== undefined && { undecoded }),
  }
}

/** The past of a thing whose events are all told. */
export function foldedPast<Folded, Event extends DomainEvent>(
  events: readonly StoredEvent[],
  telling: Telling<Folded, Event>,
  who: Who,
): Past {
  const steps = foldedSteps(events, telling)
  return {
    entries: () => Promise.all(steps.map((step) => entryOf(step, telling, who))),
    stateAt: stateAt(steps, telling),
  }
}

/** The state at a time, in milliseconds since 1970, included. */
export const stateAt =
  <Folded, Event extends DomainEvent>(
    steps: readonly Step<Folded, Event>[],
    { initialState, shown }: Pick<Telling<Folded, Event>, 'initialState' | 'shown'>,
  ) =>
  (until: number): State =>
    shown(steps.findLast(({ stored }) => timeOf(stored) <= until)?.after ?? initialState)
