import { Command, InvalidArgumentError, Option } from 'commander'
import { requireAccount, type AccountLookupContext } from '../commands/accounts/accounts.ts'
import { accountStream, parseAccountNumber } from '../domain/account/account.ts'
import { editDistance } from '../domain/dictionaries/edit-distance.ts'
import { catalogue, redactEvent } from '../events/catalogue.ts'
import { EVENTS, isKnownEventType } from '../events/registry.ts'
import {
  formatPosition,
  parsePosition,
  type EventStore,
  type PositionOrStart,
  type StoredEvent,
} from '../stores/ports/event-store.ts'
import {
  followMatchingEvents,
  readMatchingEvents,
  type StreamSelection,
  type EventQuery,
} from './events/event-query.ts'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, note, printResult, type OutputOptions } from './output.ts'
import { listenForStop } from './process-exit.ts'
import { parseSince, parseUntil } from './times.ts'

/** An event as one line of JSON. `undecoded` is present only if this release cannot decode the event, and says why. */
export function asJson(event: StoredEvent): string {
  const { position, stream, revision, id, type, metadata } = event
  const { at, actor } = metadata
  const { data, decodeError } = redactEvent(event)
  const header = { position: formatPosition(position), stream, revision: Number(revision), id, type }
  return JSON.stringify({ ...header, at, actor, data, metadata, undecoded: decodeError })
}

/** Events are printed as they are read, so that the columns have fixed widths that fit typical values. */
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

/** An event as a row under `HEADINGS`. */
export function asRow(event: StoredEvent): string {
  const { position, stream, revision, type, metadata } = event
  const { data, decodeError } = redactEvent(event)
  const actorText = `${metadata['actor'] ?? '?'} via ${metadata['via'] ?? '?'}`
  const dataText = `${JSON.stringify(data)}${decodeError === undefined ? '' : `  NOT DECODED: ${decodeError}`}`
  return row([formatPosition(position), metadata['at'] ?? '', `${stream}@${revision}`, type, actorText, dataText])
}

type CatalogueOptions = OutputOptions & { readonly type?: readonly string[] }

/**
 * `events --schema`: every event type with the JSON Schema of its payload. It needs no installation.
 * @throws BadUsage with a stream or an option that selects events
 */
export function printCatalogue(stream: string | undefined, { json, type, ...otherOptions }: CatalogueOptions): void {
  const [otherOption] = Object.keys(otherOptions).filter((name) => name !== 'schema' && name !== 'from')
  if (stream !== undefined || otherOption !== undefined) {
    const conflictingArgument = otherOption === undefined ? stream : `--${otherOption}`
    throw new BadUsage(
      `--schema prints event types, and can be combined only with --type and --json: remove ${conflictingArgument}`,
    )
  }
  const eventTypes = catalogue(type)
  printResult({ ...(json && { json }) }, eventTypes, JSON.stringify(eventTypes, null, 2))
}

const MAX_SUGGESTIONS = 3

/**
 * Parses one value of a repeatable option that takes event types.
 * @throws InvalidArgumentError for an unknown type, with the closest known types
 */
export function parseEventType(text: string, previous: readonly string[] = []): string[] {
  if (isKnownEventType(text)) return [...previous, text]
  const suggestions = suggestEventTypes(text).join(', ')
  throw new InvalidArgumentError(
    `Unknown event type. Did you mean: ${suggestions}? \`events --schema\` lists all types.`,
  )
}

/** The known types closest to a name; types that contain the name, or are contained in it, come first. */
function suggestEventTypes(name: string): string[] {
  const lowercaseName = name.slice(0, MAX_NAME_LENGTH).toLowerCase()
  const distance = (type: string) => {
    const lowercaseType = type.toLowerCase()
    return lowercaseType.includes(lowercaseName) || lowercaseName.includes(lowercaseType)
      ? 0
      : editDistance(lowercaseName, lowercaseType)
  }
  return Object.keys(EVENTS)
    .map((type) => ({ type, distance: distance(type) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ type }) => type)
}

/** Characters of a name that are compared: limits the cost of the edit distance. */
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

/** `events`: events of the log, stored or as they are appended. */
export function eventsCommand(open: OpenInstallation): Command {
  return new Command('events')
    .description('Print events in log order, of all streams, one stream (diamond-7) or one category (diamond-)')
    .argument('[stream]', 'Stream, or category with a trailing dash')
    .option(
      '--prefix <prefixes...>',
      'Only streams whose names start with one of these prefixes, such as diamond- scores-',
    )
    .addOption(
      new Option('--type <types...>', 'Only these event types, such as DiamondCreated').argParser(parseEventType),
    )
    .addOption(
      new Option('--from <position>', 'Only events after this position').argParser(requirePosition).default('start'),
    )
    .addOption(
      new Option('--since <time>', 'Only events at or after this time: ISO 8601 time or date').argParser(parseSince),
    )
    .addOption(
      new Option('--until <time>', 'Only events up to the end of this time: ISO 8601 time or date').argParser(
        parseUntil,
      ),
    )
    .option('--actor <who>', 'Only events by this actor: account-7 or its e-mail address, operator, scoring, ...')
    .option('--correlation <id>', 'Only events caused by this request (X-Request-Id) or command run')
    .addOption(
      new Option('--trace <id>', 'Only events of this trace: 32 hexadecimal digits, as in traceparent').argParser(
        requireTraceId,
      ),
    )
    .option('--follow', 'Keep printing new events until Ctrl-C')
    .option('--schema', 'Print the event types with their JSON Schemas instead of events')
    .option('--json', 'Print one line of JSON per event')
    .addHelpText('after', EXAMPLE)
    .action((stream: string | undefined, options: EventsOptions) =>
      options.schema === true ? printCatalogue(stream, options) : printEvents(open, stream, options),
    )
}

const EXAMPLE = `
Examples:
  adamant events diamond-7
  adamant events --type DiamondCreated --follow --json
  adamant events --schema --type DiamondCreated
  adamant events --prefix account- client- --since 2026-11-22 --actor operator`

function requirePosition(text: string): PositionOrStart {
  const position = text === 'start' ? text : parsePosition(text)
  if (position !== undefined) return position
  throw new InvalidArgumentError('It must be a position as printed by `events`, such as 1234.')
}

function requireTraceId(text: string): string {
  if (/^[0-9a-f]{32}$/i.test(text)) return text.toLowerCase()
  throw new InvalidArgumentError('It must be 32 hexadecimal digits, the second part of a traceparent.')
}

async function printEvents(open: OpenInstallation, stream: string | undefined, options: EventsOptions): Promise<void> {
  const streams = streamsOf(stream, options)
  const { from, type, since, until, correlation, trace } = options
  if (options.follow === true && until !== undefined) throw new BadUsage('--follow cannot be combined with --until')
  await withInstallation(open, async ({ store, people }) => {
    const actor = options.actor === undefined ? undefined : await resolveActor({ store, people }, options.actor)
    const query: EventQuery = { streams, from, type, since, until, correlation, trace, actor }
    if (options.follow === true) await printAll(options, followMatchingEvents(store, query, listenForStop()))
    else await printStored(options, store, query)
  })
}

/** @throws OperationFailure after the last event, if some are damaged */
async function printStored(options: OutputOptions, store: EventStore, query: EventQuery): Promise<void> {
  let damagedCount = 0
  const events = readMatchingEvents(store, query, (error) => {
    damagedCount++
    note(error.message)
  })
  await printAll(options, events)
  if (damagedCount > 0)
    throw new OperationFailure(
      `${formatQuantity(damagedCount, 'event')} could not be read; run adamant verify to check the whole log`,
    )
}

/** @throws BadUsage */
function streamsOf(stream: string | undefined, { prefix }: EventsOptions): StreamSelection {
  if (stream !== undefined && prefix !== undefined) {
    throw new BadUsage('Give a stream or --prefix, not both')
  }
  if (prefix !== undefined) return { kind: 'some', prefixes: prefix }
  if (stream === undefined) return { kind: 'all' }
  return stream.endsWith('-') ? { kind: 'some', prefixes: [stream] } : { kind: 'one', stream }
}

/**
 * Resolves an e-mail address or number to the account's stream, which is the actor in events.
 * @throws RequestError `missing` for an address without an account
 */
async function resolveActor(context: AccountLookupContext, actor: string): Promise<string> {
  const account = parseAccountNumber(actor)
  if (account !== undefined) return accountStream(account)
  return actor.includes('@') ? accountStream((await requireAccount(context, actor)).account) : actor
}

type StoredEventStream = ReturnType<typeof readMatchingEvents>

async function printAll({ json }: OutputOptions, events: StoredEventStream): Promise<void> {
  let isFirst = true
  for await (const event of events) {
    if (isFirst && json !== true) await print(HEADINGS)
    isFirst = false
    await print(json === true ? asJson(event) : asRow(event))
  }
  if (isFirst) note('No events match')
}

/** Applies back-pressure if the reader of stdout is slower than the log. */
async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await new Promise<void>((done) => process.stdout.once('drain', () => done()))
}
