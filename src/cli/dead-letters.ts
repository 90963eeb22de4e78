import { Argument, Command } from 'commander'
import { MAX_STREAMS_PER_RETRY, retryStreams } from '../commands/installation/retry-streams.ts'
import { PolledProgress } from '../projections/engine/progress.ts'
import type { DeadLetter, ModelDeclaration } from '../stores/ports/read-store.ts'
import { CHECKPOINTED_MODELS } from '../wiring/followers.ts'
import type { Installation } from '../wiring/installation.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { createOperatorOrigin, withInstallation, type OpenInstallation } from './with-installation.ts'
import { printResult, progressBar, table, type OutputOptions } from './output.ts'

/** What one of them has set aside. */
export type ModelDeadLetters = { readonly model: ModelDeclaration; readonly deadLetters: readonly DeadLetter[] }

export type DeadLetterRetryResult = {
  readonly freed: readonly { readonly model: string; readonly stream: string }[]
  /** Set aside again, with the reason for the first of each stream's events. */
  readonly left: readonly { readonly model: string; readonly stream: string; readonly reason: string }[]
}

/** Milliseconds that the service may take for one request. */
const RETRY_TIMEOUT_MS = 60_000

/** @param stream only of this one */
export async function readDeadLetters(
  { reads }: Installation,
  model: ModelDeclaration,
  stream?: string,
): Promise<ModelDeadLetters> {
  // Asking for the live build makes one where there is none, and only the projections' runner may do that.
  const isMade = (await (await reads.model(model)).position()) !== 'start'
  const letters = isMade ? await (await reads.live(model)).deadLetters() : []
  return { model, deadLetters: letters.filter((letter) => stream === undefined || letter.stream === stream) }
}

/**
 * Asks the processes that keep these models to go through the streams again, and waits until they have.
 * @throws Failed where no process keeps a model, or takes too long: what was asked for is then done later
 */
export async function retryDeadLetters(
  installation: Installation,
  found: readonly ModelDeadLetters[],
): Promise<DeadLetterRetryResult> {
  for (const { model } of found) await requireActiveRunner(installation, model)
  const wanted = found.map(({ model, deadLetters }) => ({ model, streams: streamsOf(deadLetters) }))
  const total = wanted.reduce((sum, { streams }) => sum + streams.length, 0)
  const bar = progressBar('trying again', total, 'streams')
  let done = 0
  for (const { model, streams } of wanted) {
    for (let from = 0; from < streams.length; from += MAX_STREAMS_PER_RETRY) {
      const some = streams.slice(from, from + MAX_STREAMS_PER_RETRY)
      await retryBatch(installation, model, some)
      bar.update((done += some.length))
    }
  }
  bar.end()
  return readRetryResult(installation, wanted)
}

async function requireActiveRunner({ reads }: Installation, model: ModelDeclaration): Promise<void> {
  if (await reads.isLeaseHeld(model)) return
  throw new OperationFailure(
    `No process keeps ${model.name}, and only that one may try again: start the service with the ` +
      'role projections (npx adamant serve), then try again',
  )
}

async function retryBatch({ writing, reads }: Installation, model: ModelDeclaration, streams: string[]) {
  const position = await retryStreams(writing, { model: model.name, streams }, createOperatorOrigin())
  if (await new PolledProgress(await reads.model(model)).waitForPosition(position, RETRY_TIMEOUT_MS)) return
  throw new OperationFailure(
    `The service has not come to it within ${RETRY_TIMEOUT_MS / 1000} s; it will when it gets there. ` +
      '`npx adamant status` tells how far it is',
  )
}

async function readRetryResult(
  installation: Installation,
  wanted: readonly { readonly model: ModelDeclaration; readonly streams: readonly string[] }[],
): Promise<DeadLetterRetryResult> {
  const freed = []
  const left = []
  for (const { model, streams } of wanted) {
    const { name } = model
    const reasons = new Map(
      (await readDeadLetters(installation, model)).deadLetters.toReversed().map((l) => [l.stream, l.reason]),
    )
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
export function deadLettersCommand(open: OpenInstallation): Command {
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
    .action((...asked: DeadLettersArguments) => list(open, ...asked))
  command
    .command('retry')
    .description('let the running service go through these streams again, from their beginning')
    .addArgument(model())
    .argument('[stream]')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', RETRY)
    .action((...asked: DeadLettersArguments) => retry(open, ...asked))
  return command
}

const model = () => new Argument('[model]').choices(CHECKPOINTED_MODELS.map(({ name }) => name))

const RETRY = `
Examples:
  npx adamant dead-letters list
  npx adamant dead-letters retry diamonds diamond-7`

type DeadLettersArguments = [model: string | undefined, stream: string | undefined, options: OutputOptions]

async function list(open: OpenInstallation, ...[name, stream, options]: DeadLettersArguments): Promise<void> {
  const found = await withInstallation(open, (installation) => findDeadLetters(installation, name, stream))
  const deadLetters = found.flatMap(({ model: { name: kept }, deadLetters: ofModel }) =>
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

async function retry(open: OpenInstallation, ...[name, stream, options]: DeadLettersArguments): Promise<void> {
  const { freed, left } = await withInstallation(open, async (installation) => {
    const found = await findDeadLetters(installation, name, stream)
    if (stream !== undefined && found.length === 0) throw new OperationFailure(`${stream} is not set aside`)
    return retryDeadLetters(installation, found)
  })
  const still = left.map(({ model: of, stream: at, reason }) => `\n${at} is still set aside by ${of}: ${reason}`)
  printResult(options, { freed, left }, `${freed.length} streams go on${still.join('')}`)
  if (left.length > 0) process.exitCode = 1
}

/** Of the models and streams that were named, or of all. */
async function findDeadLetters(installation: Installation, name: string | undefined, stream: string | undefined) {
  const models = CHECKPOINTED_MODELS.filter((known) => name === undefined || known.name === name)
  const found = await Promise.all(models.map((known) => readDeadLetters(installation, known, stream)))
  return found.filter(({ deadLetters: ofModel }: ModelDeadLetters) => ofModel.length > 0)
}
