import { Command } from 'commander'
import { MODEL_VERSION } from '../commands/scores/score-diamonds.ts'
import type { Installation } from '../wiring/installation.ts'
import { READ_MODELS } from '../wiring/consumers.ts'
import { checkpointModelOf } from '../projections/engine/reaction.ts'
import { scoring } from '../reactions/scoring/scoring.ts'
import { findWriteRefusals } from '../wiring/service.ts'
import type { EventStore, PositionOrStart } from '../stores/ports/event-store.ts'
import type { ModelDeclaration } from '../stores/ports/read-store.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, printResult, table, type OutputOptions } from './output.ts'

type StatusOptions = OutputOptions & { readonly count?: true }

/** `status`: position and lag of the read models and of scoring. */
export function statusCommand(open: OpenInstallation): Command {
  return new Command('status')
    .description('Show the position and lag of each read model and of scoring')
    .option('--count', 'Also count the events of each category (reads the whole log)')
    .addHelpText(
      'after',
      '\nExample:\n  adamant status --json\n\nExit code 1: no running service maintains the read models, one of them or scoring is more than 60 s behind, or writes are rejected.',
    )
    .action((options: StatusOptions) => status(open, options))
}

type ConsumerStatus = {
  readonly position: string
  /** Number of events in its streams after its position. */
  readonly lag: number
  /** Age of the oldest of these events, in seconds; 0 if there are none. */
  readonly behind: number
  /** Whether a running process maintains it. */
  readonly running: boolean
}

type ModelStatus = ConsumerStatus & {
  readonly model: string
  readonly version: number
  /** Id of the live build; null before the first one. */
  readonly build: string | null
  readonly deadLetters: number
}

type ScoringStatus = ConsumerStatus & {
  /** Version of this release's scoring model. */
  readonly model: string
}

async function status(open: OpenInstallation, options: StatusOptions): Promise<void> {
  const result = await withInstallation(open, async (installation) => ({
    head: formatPosition(await installation.store.head()),
    refusals: await findWriteRefusals(installation),
    models: await Promise.all(READ_MODELS.map((model) => modelStatus(installation, model))),
    scoring: await scoringStatus(installation),
    mails: (await installation.vault.counts()).mails,
    ...(options.count === true && { events: await countEvents(installation.store) }),
  }))
  const faults = faultsOf(result)
  const models = result.models.map(({ model, version, build, position, lag, deadLetters, running }) => [
    `${model} v${version}`,
    build ?? 'none',
    position,
    String(lag),
    String(deadLetters),
    formatRunning(running),
  ])
  const headings = ['read model', 'live build', 'position', 'lag', 'dead letters', 'running']
  const { scoring } = result
  const scoringRow = [scoring.model, scoring.position, String(scoring.lag), formatRunning(scoring.running)]
  const counts = Object.entries(result.events ?? {}).map(([category, events]) => [category, String(events)])
  const text = [`Log head: ${result.head}`, '', table(headings, models)]
  text.push('', table(['scoring model', 'position', 'lag', 'running'], [scoringRow]))
  text.push('', `Mails to be sent: ${result.mails}`)
  if (result.events !== undefined) text.push('', table(['category', 'events'], counts))
  printResult(options, { ok: faults.length === 0, faults, ...result }, text.join('\n'))
  if (faults.length > 0) throw new OperationFailure(faults.join('; '))
}

/** Delay above which a read model or scoring counts as late. */
const MAX_DELAY_SECONDS = 60

/** Problems that make the command fail. */
function faultsOf({ models, scoring, refusals }: StatusResult): string[] {
  const consumers = [
    ...models.map((model) => ({ ...model, name: `the ${model.model} read model` })),
    { ...scoring, name: 'scoring' },
  ]
  const late = consumers.filter(({ behind }) => behind > MAX_DELAY_SECONDS)
  const idle = consumers.filter(({ running }) => !running)
  return [
    ...refusals,
    ...(idle.length === 0 ? [] : [`no running process maintains ${joinNames(idle)}: start the service`]),
    ...late.map(({ name, behind, lag }) => `${name} is ${behind} s behind (${formatQuantity(lag, 'event')})`),
  ]
}

type StatusResult = {
  readonly refusals: readonly string[]
  readonly models: readonly ModelStatus[]
  readonly scoring: ScoringStatus
}
const joinNames = (consumers: readonly { readonly name: string }[]) => consumers.map(({ name }) => name).join(', ')

const formatRunning = (running: boolean) => (running ? 'yes' : 'no: start the service')

type RegisteredReadModel = (typeof READ_MODELS)[number]

async function modelStatus(
  installation: Installation,
  { declaration, streamPrefixes }: RegisteredReadModel,
): Promise<ModelStatus> {
  const progress = await consumerStatus(installation, declaration, streamPrefixes)
  // `live()` creates a missing build, which only the process that runs the projection may do.
  const live = progress.position === START ? undefined : await installation.reads.live(declaration)
  return {
    model: declaration.name,
    version: declaration.version,
    build: live?.id ?? null,
    deadLetters: (await live?.deadLetters())?.length ?? 0,
    ...progress,
  }
}

/** The lag counts all events of diamonds, though most of them do not require scoring. */
async function scoringStatus(installation: Installation): Promise<ScoringStatus> {
  const progress = await consumerStatus(installation, checkpointModelOf(scoring.name), scoring.streamPrefixes)
  return { model: MODEL_VERSION, ...progress }
}

async function consumerStatus(
  { store, reads }: Installation,
  declaration: ModelDeclaration,
  prefixes: readonly string[],
): Promise<ConsumerStatus> {
  const position = await (await reads.model(declaration)).position()
  let lag = 0
  let oldest: string | undefined
  for await (const event of store.readAll(position, { prefixes })) {
    oldest ??= event.metadata['at']
    if (event.type !== '') lag++
  }
  return {
    position: formatPosition(position),
    lag,
    behind: secondsSince(oldest),
    running: await reads.isLeaseHeld(declaration),
  }
}

/** @param at ISO 8601 */
function secondsSince(at: string | undefined): number {
  const since = at === undefined ? Number.NaN : Date.parse(at)
  return Number.isNaN(since) ? 0 : Math.max(0, Math.round((Date.now() - since) / 1000))
}

/** Number of events by category: the stream's name up to its first dash. */
async function countEvents(store: EventStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for await (const { stream } of store.readAll('start')) {
    const category = stream.split('-', 1)[0] ?? stream
    counts[category] = (counts[category] ?? 0) + 1
  }
  return counts
}

const START = 'start'
const formatPosition = (position: PositionOrStart) => (position === START ? START : String(position.commit))
