import { Command, InvalidArgumentError, Option } from 'commander'
import { requireAccount, type AccountLookupContext } from '../commands/accounts/accounts.ts'
import { accountStream } from '../domain/account/account.ts'
import { editDistance } from '../domain/dictionaries/edit-distance.ts'
import { catalogue, redactEvent } from '../events/catalogue.ts'
import { EVENTS, isKnownEventType } from '../events/registry.ts'
import type { EventStore, PositionOrStart, Position, StoredEvent } from '../stores/ports/event-store.ts'
import {
  followMatchingEvents,
  readMatchingEvents,
  type StreamSelection,
  type EventQuery,
} from './events/event-query.ts'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { note, printResult, type OutputOptions } from './output.ts'
import { listenForStop } from './process-exit.ts'
import { parseSince, parseUntil } from './times.ts'

/** A position as one text: one number, or on stores whose positions are two, `commit/prepare`. */
const formatPosition = ({ commit, prepare }: Position): string =>
  commit === prepare ? `${commit}` : `${commit}/${prepare}`

/** One event as a line of JSON. `undecoded` says why this release does not understand it, and is there only then. */
export function asJson(event: StoredEvent): string {
  const { position, stream, revision, id, type, metadata } = event
  const { at, actor } = metadata
  const { data, decodeError } = redactEvent(event)
  const place = { position: formatPosition(position), stream, revision: Number(revision), id, type }
  return JSON.stringify({ ...place, at, actor, data, metadata, undecoded: decodeError })
}

/** Nobody knows what comes: columns have the width of what they hold most often, and grow where they have to. */
const COLUMNS: readonly (readonly [heading: string, width: number])[] = [
  ['position', 8],
  ['at', 24],
  ['stream', 16],
  ['type', 21],
  ['who', 18],
  ['data', 0],
]

const row = (cells: readonly string[]) => cells.map((cell, column) => cell.padEnd(COLUMNS[column]?.[1] ?? 0)).join('  ')

export const HEADINGS = row(COLUMNS.map(([heading]) => heading))

/** One event as a row of a table. */
export function asRow(event: StoredEvent): string {
  const { position, stream, revision, type, metadata } = event
  const { data, decodeError } = redactEvent(event)
  const who = `${metadata['actor'] ?? '?'} via ${metadata['via'] ?? '?'}`
  const said = `${JSON.stringify(data)}${decodeError === undefined ? '' : `  NOT UNDERSTOOD: ${decodeError}`}`
  return row([formatPosition(position), metadata['at'] ?? '', `${stream}@${revision}`, type, who, said])
}

type CatalogueOptions = OutputOptions & { readonly type?: readonly string[] }

/**
 * `events --schema`: every type of event there is, with the JSON Schema of its payload. It needs no installation.
 * @throws BadUsage where events are asked for beside it
 */
export function printCatalogue(stream: string | undefined, { json, type, ...others }: CatalogueOptions): void {
  const [other] = Object.keys(others).filter((name) => name !== 'schema' && name !== 'from')
  if (stream !== undefined || other !== undefined) {
    const what = other === undefined ? stream : `--${other}`
    throw new BadUsage(`--schema prints what events there may be, of these types or of all: leave out ${what}`)
  }
  const found = catalogue(type)
  printResult({ ...(json && { json }) }, found, JSON.stringify(found, null, 2))
}

/** How many names are proposed for one that is none. */
const MAX_SUGGESTIONS = 3

/**
 * Reads one more value of an option that takes types of events.
 * @throws InvalidArgumentError for a type that this release does not know, naming those that are near
 */
export function parseEventType(text: string, before: readonly string[] = []): string[] {
  if (isKnownEventType(text)) return [...before, text]
  const near = suggestEventTypes(text).join(', ')
  throw new InvalidArgumentError(`There is no event of this type. Near to it: ${near}. \`events --schema\` names all.`)
}

/** The known types that a name is nearest to: those that have it, or that it has, as a part come first. */
function suggestEventTypes(name: string): string[] {
  const small = name.slice(0, MAX_NAME_LENGTH).toLowerCase()
  const distance = (type: string) => {
    const other = type.toLowerCase()
    return other.includes(small) || small.includes(other) ? 0 : editDistance(small, other)
  }
  return Object.keys(EVENTS)
    .map((type) => ({ type, distance: distance(type) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ type }) => type)
}

/** Characters of a name that are looked at: the work grows with them. */
const MAX_NAME_LENGTH = 64

type EventsOptions = OutputOptions & {
  readonly prefix?: readonly string[]
  readonly type?: readonly string[]
  readonly from: PositionOrStart
  readonly since?: number
  readonly until?: number
  readonly actor?: string
  readonly correlation?: string
  readonly trace?: string
  readonly follow?: true
  readonly schema?: true
}

/** `events`: what the log holds. */
export function eventsCommand(open: OpenInstallation): Command {
  return new Command('events')
    .description(
      'print events in the order of the log: of all streams, of one (diamond-7), or of a category (diamond-)',
    )
    .argument('[stream]')
    .option('--prefix <prefixes...>', 'only of streams whose names begin with one of these, such as diamond- scores-')
    .addOption(new Option('--type <types...>', 'only these types, such as DiamondCreated').argParser(parseEventType))
    .addOption(
      new Option('--from <position>', 'only what comes behind this position').argParser(parsePosition).default('start'),
    )
    .addOption(new Option('--since <time>', 'only of this time and later: ISO 8601, or a day').argParser(parseSince))
    .addOption(new Option('--until <time>', 'only up to the end of this time').argParser(parseUntil))
    .option('--actor <who>', 'only what this actor did: account-7 or its e-mail address, operator, scoring, ...')
    .option('--correlation <id>', 'only what this request caused (X-Request-Id), or this run of a command')
    .option('--trace <id>', 'only what requests of this trace caused: 32 hexadecimal digits, as in traceparent')
    .option('--follow', 'go on with what comes, until Ctrl-C')
    .option('--schema', 'print what events there may be instead, with a JSON Schema for each')
    .option('--json', 'one line of JSON an event')
    .addHelpText('after', EXAMPLE)
    .action((stream: string | undefined, options: EventsOptions) =>
      options.schema === true ? printCatalogue(stream, options) : printEvents(open, stream, options),
    )
}

const EXAMPLE = `
Examples:
  npx adamant events diamond-7
  npx adamant events --type DiamondCreated --follow --json
  npx adamant events --schema --type DiamondCreated
  npx adamant events --prefix account- client- --since 2026-11-22 --actor operator`

/** As the command prints it: one number, or on stores whose positions are two, \`commit/prepare\`. */
function parsePosition(text: string): PositionOrStart {
  const [, commit, prepare = commit] = /^(\d{1,19})(?:\/(\d{1,19}))?$/.exec(text) ?? []
  if (text === 'start') return 'start'
  if (commit === undefined || prepare === undefined) {
    throw new InvalidArgumentError('It must be a position as `events` prints it, such as 1234.')
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}

async function printEvents(open: OpenInstallation, stream: string | undefined, options: EventsOptions): Promise<void> {
  const streams = streamsOf(stream, options)
  const { from, type, since, until, correlation, trace } = options
  if (options.follow === true && until !== undefined) throw new BadUsage('--follow has no end: leave out --until')
  await withInstallation(open, async ({ store, people }) => {
    const actor = await actorOf({ store, people }, options.actor)
    const wanted: EventQuery = { streams, from, type, since, until, correlation, trace, actor }
    if (options.follow === true) await printAll(options, followUntilStopped(store, wanted))
    else await printStored(options, store, wanted)
  })
}

/** @throws Failed behind the last one, where some are damaged */
async function printStored(options: OutputOptions, store: EventStore, wanted: EventQuery): Promise<void> {
  let count = 0
  const found = readMatchingEvents(store, wanted, (error) => {
    count++
    note(error.message)
  })
  await printAll(options, found)
  if (count > 0)
    throw new OperationFailure(`${count} of them can not be shown; npx adamant verify tells what else is wrong`)
}

/** @throws BadUsage */
function streamsOf(stream: string | undefined, { prefix }: EventsOptions): StreamSelection {
  if (stream !== undefined && prefix !== undefined) {
    throw new BadUsage('Name a stream, or prefixes of streams by --prefix, not both')
  }
  if (prefix !== undefined) return { kind: 'some', prefixes: prefix }
  if (stream === undefined) return { kind: 'all' }
  return stream.endsWith('-') ? { kind: 'some', prefixes: [stream] } : { kind: 'one', stream }
}

/** An account may be named by its address; its events name its stream. @throws Refusal missing */
async function actorOf(finding: AccountLookupContext, actor: string | undefined): Promise<string | undefined> {
  if (actor?.includes('@') !== true) return actor
  return accountStream((await requireAccount(finding, actor)).account)
}

async function* followUntilStopped(store: EventStore, wanted: EventQuery) {
  // The store's own watch on the log keeps no process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    yield* followMatchingEvents(store, wanted, listenForStop().received)
  } finally {
    clearInterval(alive)
  }
}

type StoredEventStream = ReturnType<typeof readMatchingEvents>

async function printAll({ json }: OutputOptions, found: StoredEventStream): Promise<void> {
  let isFirst = true
  for await (const event of found) {
    if (isFirst && json !== true) await print(HEADINGS)
    isFirst = false
    await print(json === true ? asJson(event) : asRow(event))
  }
}

/** Waits where the reader of stdout is slower than the log. */
async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await new Promise<void>((done) => process.stdout.once('drain', () => done()))
}
