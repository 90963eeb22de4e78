import type { Command } from 'commander'
import type { DomainEvent } from '../../domain/decider.ts'
import { EVENTS } from '../../events/registry.ts'
import { entryOf as diamondEntryOf, readPast } from '../../projections/history/diamond.ts'
import type { Entry } from '../../projections/history/entry.ts'
import type { Finding } from '../../commands/accounts/accounts.ts'
import { Who } from '../../projections/history/who.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { Failed } from '../../maintenance/operation.ts'
import { withInstallation, type Open } from '../installed.ts'
import { printResult, type OutputOptions } from '../output.ts'
import { clientTelling, namesBy, sessionTelling, userTelling } from './people.ts'
import { entriesTable, entryOf, foldedSteps, type Telling } from './subject.ts'
import { secretTelling } from './secret.ts'

/** An entry with the event that it tells. */
type Told = { readonly event: Pick<StoredEvent, 'stream' | 'revision' | 'position'>; readonly entry: Entry }

/** Streams that are read and folded at the same time. */
const AT_ONCE = 32

/** Prints everything that a request caused, or a run of a command. @throws Failed where there is nothing */
async function auditCorrelation(open: Open, correlation: string, options: OutputOptions): Promise<void> {
  const entries = await withInstallation(open, (installation) => causedBy(installation, correlation))
  if (entries.length === 0) {
    throw new Failed(`Nothing in the log was caused by ${correlation.slice(0, 200)}; it is a request's X-Request-Id`)
  }
  printResult(options, entries, entriesTable(entries))
}

/**
 * What one request caused, over all streams, in the order of the log: what it did itself, and what followers of the log did because
 * of that. The whole log is read for it.
 * @throws StoreUnavailable
 */
export async function causedBy({ store, people }: Finding, correlation: string): Promise<Entry[]> {
  const wanted = new Set<string>()
  const things = new Set<string>()
  for await (const event of store.readAll('start')) {
    if (event.metadata['$correlationId'] !== correlation) continue
    wanted.add(nameOf(event))
    // A diamond's two streams are told together.
    things.add(event.stream.replace(/^scores-/, 'diamond-'))
  }
  const who = new Who(store, people)
  const told: Told[] = []
  const streams = [...things]
  while (streams.length > 0) {
    const some = await Promise.all(streams.splice(0, AT_ONCE).map((stream) => toldOf(store, stream, who)))
    told.push(...some.flat().filter(({ event }) => wanted.has(nameOf(event))))
  }
  return told.sort((a, b) => comparePositions(a.event.position, b.event.position)).map(({ entry }) => entry)
}

const nameOf = ({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>) => `${revision}@${stream}`

async function toldOf(store: EventStore, stream: string, who: Who): Promise<Told[]> {
  const diamond = Number(/^diamond-([1-9]\d{0,15})$/.exec(stream)?.[1] ?? NaN)
  if (Number.isSafeInteger(diamond)) {
    const { steps } = await readPast(store, diamond)
    return Promise.all(
      steps.map(async (step) => ({ event: step.event, entry: diamondEntryOf(step, await who.of(step.event)) })),
    )
  }
  const events = await store.read(stream)
  if (/^(?:account|login|apitoken)-/.test(stream)) return foldedBy(userTelling(who), events, who)
  if (stream.startsWith('client-')) return foldedBy(clientTelling, events, who)
  if (stream.startsWith('session-')) return foldedBy(sessionTelling(namesBy(who)), events, who)
  if (stream.startsWith('secret-')) return foldedBy(secretTelling, events, who)
  return foldedBy(PLAIN, events, who)
}

const foldedBy = <State, Event extends DomainEvent>(
  telling: Telling<State, Event>,
  events: readonly StoredEvent[],
  who: Who,
): Promise<Told[]> =>
  Promise.all(
    foldedSteps(events, telling).map(async (step) => ({
      event: step.stored,
      entry: await entryOf(step, telling, who),
    })),
  )

/** What is no subject of an audit of its own is told as the catalogue of events has it. */
const PLAIN: Telling<null, DomainEvent> = {
  initialState: null,
  evolve: () => null,
  shown: () => null,
  words: {},
  detail: ({ type }) => EVENTS[type]?.about ?? '',
}

/** Puts `--correlation` under `audit`, beside its subjects. */
export const withCorrelation = (audit: Command, open: Open): Command =>
  audit
    .enablePositionalOptions()
    .option('--correlation <id>', 'everything that one request caused (its X-Request-Id), or one run of a command')
    .option('--json', 'print one line of JSON')
    .action(({ correlation, ...options }: OutputOptions & { readonly correlation?: string }) =>
      correlation === undefined ? audit.help({ error: true }) : auditCorrelation(open, correlation, options),
    )
