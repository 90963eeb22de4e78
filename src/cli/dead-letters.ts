import { Argument, Command } from 'commander'
import { RETRIED_AT_ONCE, retryStreams } from '../commands/installation/retry-streams.ts'
import { FollowedProgress } from '../projections/engine/progress.ts'
import type { DeadLetter, ModelDeclaration } from '../stores/ports/read-store.ts'
import { CHECKPOINTED } from '../wiring/followers.ts'
import type { Installation } from '../wiring/installation.ts'
import { Failed } from '../maintenance/operation.ts'
import { operator, withInstallation, type Open } from './installed.ts'
import { printResult, progressBar, table, type OutputOptions } from './output.ts'

/** What one of them has set aside. */
export type SetAside = { readonly model: ModelDeclaration; readonly letters: readonly DeadLetter[] }

export type Retried = {
  readonly freed: readonly { readonly model: string; readonly stream: string }[]
  /** Set aside again, with the reason for the first of each stream's events. */
  readonly left: readonly { readonly model: string; readonly stream: string; readonly reason: string }[]
}

/** Milliseconds that the service may take for one request. */
const PATIENCE = 60_000

/** @param stream only of this one */
export async function setAside({ reads }: Installation, model: ModelDeclaration, stream?: string): Promise<SetAside> {
  // Asking for the live build makes one where there is none, and only the projections' runner may do that.
  const isMade = (await (await reads.model(model)).position()) !== 'start'
  const letters = isMade ? await (await reads.live(model)).deadLetters() : []
  return { model, letters: letters.filter((letter) => stream === undefined || letter.stream === stream) }
}

/**
 * Asks the processes that keep these models to go through the streams again, and waits until they have.
 * @throws Failed where no process keeps a model, or takes too long: what was asked for is then done later
 */
export async function retried(installation: Installation, found: readonly SetAside[]): Promise<Retried> {
  for (const { model } of found) await mustBeKept(installation, model)
  const wanted = found.map(({ model, letters }) => ({ model, streams: streamsOf(letters) }))
  const total = wanted.reduce((sum, { streams }) => sum + streams.length, 0)
  const bar = progressBar('trying again', total, 'streams')
  let done = 0
  for (const { model, streams } of wanted) {
    for (let from = 0; from < streams.length; from += RETRIED_AT_ONCE) {
      const some = streams.slice(from, from + RETRIED_AT_ONCE)
      await retrySome(installation, model, some)
      bar.update((done += some.length))
    }
  }
  bar.end()
  return outcome(installation, wanted)
}

async function mustBeKept({ reads }: Installation, model: ModelDeclaration): Promise<void> {
  if (await reads.isHeld(model)) return
  throw new Failed(
    `No process keeps ${model.name}, and only that one may try again: start the service with the ` +
      'role projections (npx adamant serve), then try again',
  )
}

async function retrySome({ writing, reads }: Installation, model: ModelDeclaration, streams: string[]) {
  const position = await retryStreams(writing, { model: model.name, streams }, operator())
  if (await new FollowedProgress(await reads.model(model)).reached(position, PATIENCE)) return
  throw new Failed(
    `The service has not come to it within ${PATIENCE / 1000} s; it will when it gets there. ` +
      '`npx adamant status` tells how far it is',
  )
}

async function outcome(
  installation: Installation,
  wanted: readonly { readonly model: ModelDeclaration; readonly streams: readonly string[] }[],
): Promise<Retried> {
  const freed = []
  const left = []
  for (const { model, streams } of wanted) {
    const { name } = model
    const reasons = new Map((await setAside(installation, model)).letters.toReversed().map((l) => [l.stream, l.reason]))
    for (const stream of streams) {
      const reason = reasons.get(stream)
      if (reason === undefined) freed.push({ model: name, stream })
      else left.push({ model: name, stream, reason })
    }
  }
  return { freed, left }
}

const streamsOf = (letters: readonly DeadLetter[]) => [...new Set(letters.map(({ stream }) => stream))]

/** `dead-letters`: events that a read model could not fold, and that a reaction, such as scoring, could not act on. */
export function deadLettersCommand(open: Open): Command {
  const command = new Command('dead-letters')
    .description('events that a read model could not fold or a reaction could not act on, and the streams set aside')
    .addHelpText('after', RETRY)
  command
    .command('list')
    .description('list them, of all read models or of one, of all streams or of one')
    .addArgument(model())
    .argument('[stream]')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', '\nExample:\n  npx adamant dead-letters list diamonds --json')
    .action((...asked: Asked) => list(open, ...asked))
  command
    .command('retry')
    .description('let the running service go through these streams again, from their beginning')
    .addArgument(model())
    .argument('[stream]')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', RETRY)
    .action((...asked: Asked) => retry(open, ...asked))
  return command
}

const model = () => new Argument('[model]').choices(CHECKPOINTED.map(({ name }) => name))

const RETRY = `
Examples:
  npx adamant dead-letters list
  npx adamant dead-letters retry diamonds diamond-7`

type Asked = [model: string | undefined, stream: string | undefined, options: OutputOptions]

async function list(open: Open, ...[name, stream, options]: Asked): Promise<void> {
  const found = await withInstallation(open, (installation) => letters(installation, name, stream))
  const deadLetters = found.flatMap(({ model: { name: kept }, letters: ofModel }) =>
    ofModel.map(({ position, revision, ...letter }) => ({
      model: kept,
      ...letter,
      revision: Number(revision),
      position: String(position.commit),
    })),
  )
  const rows = deadLetters.map(({ model: of, stream: at, revision, type, reason }) => [
    of,
    `${at}@${revision}`,
    type,
    reason,
  ])
  const text = rows.length === 0 ? 'nothing is set aside' : table(['read model', 'event', 'type', 'reason'], rows)
  printResult(options, { deadLetters }, text)
}

async function retry(open: Open, ...[name, stream, options]: Asked): Promise<void> {
  const { freed, left } = await withInstallation(open, async (installation) => {
    const found = await letters(installation, name, stream)
    if (stream !== undefined && found.length === 0) throw new Failed(`${stream} is not set aside`)
    return retried(installation, found)
  })
  const still = left.map(({ model: of, stream: at, reason }) => `\n${at} is still set aside by ${of}: ${reason}`)
  printResult(options, { freed, left }, `${freed.length} streams go on${still.join('')}`)
  if (left.length > 0) process.exitCode = 1
}

/** Of the models and streams that were named, or of all. */
async function letters(installation: Installation, name: string | undefined, stream: string | undefined) {
  const models = CHECKPOINTED.filter((known) => name === undefined || known.name === name)
  const found = await Promise.all(models.map((known) => setAside(installation, known, stream)))
  return found.filter(({ letters: ofModel }: SetAside) => ofModel.length > 0)
}
