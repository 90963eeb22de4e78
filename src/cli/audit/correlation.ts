import type { Command } from 'commander'
import { parseId } from '../../domain/entity-id.ts'
import type { DomainEvent } from '../../domain/fold.ts'
import { EVENTS } from '../../events/registry.ts'
import { toHistoryEntry as diamondEntryOf, readDiamondHistory } from '../../projections/history/diamond-history.ts'
import type { HistoryEntry } from '../../projections/history/history-entry.ts'
import type { AccountLookupContext } from '../../commands/accounts/accounts.ts'
import { ActorResolver } from '../../projections/history/actor-resolver.ts'
import { comparePositions, type EventStore, type StoredEvent } from '../../stores/ports/event-store.ts'
import { OperationFailure } from '../../maintenance/operation.ts'
import { withInstallation, type OpenInstallation } from '../with-installation.ts'
import { printResult, type OutputOptions } from '../output.ts'
import {
  clientPresenter,
  createActorNameLookup,
  createSessionPresenter,
  createUserPresenter,
} from './user-client-session.ts'
import { entriesTable, toAuditEntry, foldSteps, type AuditPresenter } from './subject.ts'
import { secretPresenter } from './secret.ts'

/** Adds `--correlation` to `audit`. */
export const addCorrelationOption = (audit: Command, open: OpenInstallation): Command =>
  audit
    .enablePositionalOptions()
    .option('--correlation <id>', 'Show everything that one request (X-Request-Id) or one run of a command caused')
    .option('--json', 'Print one line of JSON')
    .action(({ correlation, ...options }: OutputOptions & { readonly correlation?: string }) =>
      correlation === undefined ? audit.help({ error: true }) : auditCorrelation(open, correlation, options),
    )

/** @throws OperationFailure if no event has this correlation id */
async function auditCorrelation(open: OpenInstallation, correlation: string, options: OutputOptions): Promise<void> {
  const entries = await withInstallation(open, (installation) => findEntriesByCorrelation(installation, correlation))
  if (entries.length === 0) {
    throw new OperationFailure(
      `No events have the correlation id ${correlation.slice(0, 200)}; it is the X-Request-Id of a request, or printed by \`events\``,
    )
  }
  printResult(options, entries, entriesTable(entries))
}

/**
 * History entries for the events that one request or command run caused, directly and through reactions, in log order.
 * Reads the whole log.
 * @throws StoreUnavailable
 */
export async function findEntriesByCorrelation(
  { store, people }: AccountLookupContext,
  correlation: string,
): Promise<HistoryEntry[]> {
  const eventKeys = new Set<string>()
  const historyStreams = new Set<string>()
  for await (const event of store.readAll('start')) {
    if (event.metadata['$correlationId'] !== correlation) continue
    eventKeys.add(eventKeyOf(event))
    // A diamond's two streams have one history.
    historyStreams.add(event.stream.replace(/^scores-/, 'diamond-'))
  }
  const actorResolver = new ActorResolver(store, people)
  const correlatedEntries: CorrelatedEntry[] = []
  const streams = [...historyStreams]
  while (streams.length > 0) {
    const batch = await Promise.all(
      streams.splice(0, MAX_CONCURRENT_STREAMS).map((stream) => loadStreamEntries(store, stream, actorResolver)),
    )
    correlatedEntries.push(...batch.flat().filter(({ event }) => eventKeys.has(eventKeyOf(event))))
  }
  return correlatedEntries
    .sort((a, b) => comparePositions(a.event.position, b.event.position))
    .map(({ entry }) => entry)
}

const eventKeyOf = ({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>) => `${revision}@${stream}`

type CorrelatedEntry = {
  readonly event: Pick<StoredEvent, 'stream' | 'revision' | 'position'>
  readonly entry: HistoryEntry
}

/** Streams that are read and folded concurrently. */
const MAX_CONCURRENT_STREAMS = 32

async function loadStreamEntries(
  store: EventStore,
  stream: string,
  actorResolver: ActorResolver,
): Promise<CorrelatedEntry[]> {
  const diamond = stream.startsWith('diamond-') ? parseId(stream.slice('diamond-'.length)) : undefined
  if (diamond !== undefined) {
    const { transitions } = await readDiamondHistory(store, diamond)
    return Promise.all(
      transitions.map(async (step) => ({
        event: step.event,
        entry: diamondEntryOf(step, await actorResolver.actorOf(step.event)),
      })),
    )
  }
  const events = await store.readStream(stream)
  if (/^(?:account|login|apitoken)-/.test(stream))
    return foldStreamEntries(createUserPresenter(actorResolver), events, actorResolver)
  if (stream.startsWith('client-')) return foldStreamEntries(clientPresenter, events, actorResolver)
  if (stream.startsWith('session-'))
    return foldStreamEntries(createSessionPresenter(createActorNameLookup(actorResolver)), events, actorResolver)
  if (stream.startsWith('secret-')) return foldStreamEntries(secretPresenter, events, actorResolver)
  return foldStreamEntries(CATALOGUE_PRESENTER, events, actorResolver)
}

const foldStreamEntries = <State, Event extends DomainEvent>(
  presenter: AuditPresenter<State, Event>,
  events: readonly StoredEvent[],
  actorResolver: ActorResolver,
): Promise<CorrelatedEntry[]> =>
  Promise.all(
    foldSteps(events, presenter).map(async (step) => ({
      event: step.stored,
      entry: await toAuditEntry(step, presenter, actorResolver),
    })),
  )

/** For streams that are not the subject of an audit command: the description from the event catalogue. */
const CATALOGUE_PRESENTER: AuditPresenter<null, DomainEvent> = {
  initialState: null,
  evolve: () => null,
  describeState: () => null,
  eventLabels: {},
  detail: ({ type }) => EVENTS[type]?.about ?? '',
}
