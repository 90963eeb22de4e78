import { Command, InvalidArgumentError, Option } from 'commander'
import { shownData } from '../events/unshown.ts'
import { comparePositions, type EventStore, type From, type StoredEvent } from '../stores/ports/event-store.ts'
import { withInstallation, type Open } from './installed.ts'
import type { OutputOptions } from './output.ts'
import { listenForStop } from './stop-signal.ts'

type EventsOptions = OutputOptions & { readonly type?: string[]; readonly from: From; readonly follow?: true }

/** `events`: what the log holds. */
export function eventsCommand(open: Open): Command {
  return new Command('events')
    .description(
      'print events in the order of the log: of all streams, of one (diamond-7), or of a category (diamond-)',
    )
    .argument('[stream]')
    .option('--type <types...>', 'only these types, such as DiamondCreated')
    .addOption(
      new Option('--from <position>', 'only what comes behind this position').argParser(readPosition).default('start'),
    )
    .option('--follow', 'go on with what comes, until Ctrl-C')
    .option('--json', 'one line of JSON an event')
    .addHelpText('after', EXAMPLE)
    .action((stream: string | undefined, options: EventsOptions) => events(open, stream, options))
}

const EXAMPLE = `
Examples:
  npx adamant events diamond-7
  npx adamant events --type DiamondCreated --follow --json`

/** As the command prints it: one number, or on stores whose positions are two, \`commit/prepare\`. */
function readPosition(text: string): From {
  const [, commit, prepare = commit] = /^(\d{1,19})(?:\/(\d{1,19}))?$/.exec(text) ?? []
  if (text === 'start') return 'start'
  if (commit === undefined || prepare === undefined) {
    throw new InvalidArgumentError('It must be a position as `events` prints it, such as 1234.')
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) }
}

async function events(open: Open, stream: string | undefined, options: EventsOptions): Promise<void> {
  const wanted = (event: StoredEvent) =>
    isOf(stream, event) && (options.type === undefined || options.type.includes(event.type))
  const write = (event: StoredEvent) => print(options.json === true ? asJson(event) : asLine(event))
  await withInstallation(open, async ({ store }) => {
    const source = options.follow === true ? followed(store, stream, options.from) : stored(store, stream, options.from)
    for await (const event of source) if (wanted(event)) await write(event)
  })
}

const isOf = (stream: string | undefined, event: StoredEvent) =>
  stream === undefined || event.stream === stream || (stream.endsWith('-') && event.stream.startsWith(stream))

async function* stored(store: EventStore, stream: string | undefined, from: From): AsyncIterable<StoredEvent> {
  if (stream === undefined || stream.endsWith('-')) {
    yield* store.readAll(from, stream === undefined ? undefined : { prefixes: [stream] })
    return
  }
  for (const event of await store.read(stream)) if (comparePositions(event.position, from) > 0) yield event
}

async function* followed(store: EventStore, stream: string | undefined, from: From): AsyncIterable<StoredEvent> {
  const subscription = store.subscribe(from, stream === undefined ? undefined : { prefixes: [stream] })
  void listenForStop().first.then(() => subscription.stop())
  // The store's own watch on the log keeps no process alive.
  const alive = setInterval(() => {}, 60_000)
  try {
    for await (const { events: batch } of subscription) yield* batch
  } finally {
    clearInterval(alive)
  }
}

const shownPosition = ({ commit, prepare }: { commit: bigint; prepare: bigint }) =>
  commit === prepare ? `${commit}` : `${commit}/${prepare}`

function asLine({ position, stream, revision, type, data, metadata }: StoredEvent): string {
  const who = `${metadata['actor'] ?? '?'} via ${metadata['via'] ?? '?'}`
  return `${shownPosition(position)}  ${metadata['at'] ?? ''}  ${stream}@${revision}  ${type}  ${who}  ${JSON.stringify(shownData(type, data))}`
}

function asJson({ position, stream, revision, id, type, data, metadata }: StoredEvent): string {
  const { at, actor } = metadata
  const place = { position: shownPosition(position), stream, revision: Number(revision), id, type }
  return JSON.stringify({ ...place, at, actor, data: shownData(type, data), metadata })
}

/** Waits where the reader of stdout is slower than the log. */
async function print(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await new Promise<void>((done) => process.stdout.once('drain', () => done()))
}
