import { Command } from 'commander'
import type { Installation } from '../installation.ts'
import { READ_MODELS } from '../projections/declarations.ts'
import type { EventStore, From } from '../stores/event-store.ts'
import { withInstallation, type Open } from './installed.ts'
import { printResult, table, type OutputOptions } from './output.ts'
import { isKept } from './read-models.ts'

type StatusOptions = OutputOptions & { readonly count?: true }

/** `status`: how far the log and the read models are. */
export function statusCommand(open: Open): Command {
  return new Command('status')
    .description('tell how far the log is, and each read model')
    .option('--count', 'also count the events of each category; this reads the whole log')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nExample:\n  npx adamant status --json')
    .action((options: StatusOptions) => status(open, options))
}

type ModelStatus = {
  readonly model: string
  readonly version: number
  /** Id of the live build; null before the first one. */
  readonly build: string | null
  readonly position: string
  /** Events of its streams that it has not folded yet. */
  readonly lag: number
  readonly deadLetters: number
  /** Whether a process keeps it up to date at this moment. */
  readonly running: boolean
}

async function status(open: Open, options: StatusOptions): Promise<void> {
  const result = await withInstallation(open, async (installation) => ({
    head: shown(await installation.store.head()),
    models: await Promise.all(READ_MODELS.map((model) => modelStatus(installation, model))),
    ...(options.count === true && { events: await countEvents(installation.store) }),
  }))
  const models = result.models.map(({ model, version, build, position, lag, deadLetters, running }) => [
    `${model} v${version}`,
    build ?? 'none yet',
    position,
    String(lag),
    String(deadLetters),
    running ? 'yes' : 'no: start the service',
  ])
  const headings = ['read model', 'live build', 'position', 'lag', 'dead letters', 'kept up to date']
  const counts = Object.entries(result.events ?? {}).map(([category, events]) => [category, String(events)])
  const text = [`the log's head is at ${result.head}`, '', table(headings, models)]
  if (result.events !== undefined) text.push('', table(['category', 'events'], counts))
  printResult(options, result, text.join('\n'))
}

async function modelStatus(
  { store, reads }: Installation,
  { declaration, prefixes }: (typeof READ_MODELS)[number],
): Promise<ModelStatus> {
  const position = await (await reads.model(declaration)).position()
  // Asking for the live build makes one where there is none, and only the projections' runner may do that.
  const live = position === 'start' ? undefined : await reads.live(declaration)
  let lag = 0
  for await (const event of store.readAll(position, { prefixes })) if (event.type !== '') lag++
  return {
    model: declaration.name,
    version: declaration.version,
    build: live?.id ?? null,
    position: shown(position),
    lag,
    deadLetters: (await live?.deadLetters())?.length ?? 0,
    running: await isKept(reads, declaration),
  }
}

/** Events by the category of their stream, which is what stands before its first dash. */
async function countEvents(store: EventStore): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for await (const { stream } of store.readAll('start')) {
    const category = stream.split('-', 1)[0] ?? stream
    counts[category] = (counts[category] ?? 0) + 1
  }
  return counts
}

const shown = (position: From) => (position === 'start' ? 'start' : String(position.commit))
