import { Argument, Command } from 'commander'
import { MAX_STREAMS_PER_RETRY, retryStreams } from '../commands/installation/retry-streams.ts'
import { PolledProgress } from '../projections/engine/progress.ts'
import type { DeadLetter, ModelDeclaration } from '../stores/ports/read-store.ts'
import { CHECKPOINTED_MODELS } from '../wiring/consumers.ts'
import type { Installation } from '../wiring/installation.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { createOperatorOrigin, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, printResult, progressBar, table, type OutputOptions } from './output.ts'

/** The dead letters of one read model or reaction. */
export type ModelDeadLetters = { readonly model: ModelDeclaration; readonly deadLetters: readonly DeadLetter[] }

export type DeadLetterRetryResult = {
  readonly freed: readonly { readonly model: string; readonly stream: string }[]
  /** Streams that were parked again, each with the reason for its first dead letter. */
  readonly left: readonly { readonly model: string; readonly stream: string; readonly reason: string }[]
}

/** How long the service may take for one batch of streams. */
const RETRY_TIMEOUT_MS = 60_000

/** @param stream only dead letters of this stream */
export async function readDeadLetters(
  { reads }: Installation,
  model: ModelDeclaration,
  stream?: string,
): Promise<ModelDeadLetters> {
  // `live()` creates a missing build, which only the process that runs the projection may do.
  const hasBuild = (await (await reads.model(model)).position()) !== 'start'
  const allDeadLetters = hasBuild ? await (await reads.live(model)).deadLetters() : []
  return { model, deadLetters: allDeadLetters.filter((letter) => stream === undefined || letter.stream === stream) }
}

/**
 * Requests that the processes which maintain these models retry the parked streams, and waits until they have.
 * @throws OperationFailure if no process maintains a model, or after a timeout; in the latter case the retry still happens later
 */
export async function retryDeadLetters(
  installation: Installation,
  deadLettersByModel: readonly ModelDeadLetters[],
): Promise<DeadLetterRetryResult> {
  for (const { model } of deadLettersByModel) await requireActiveRunner(installation, model)
  const retries = deadLettersByModel.map(({ model, deadLetters }) => ({ model, streams: streamsOf(deadLetters) }))
  const total = retries.reduce((sum, { streams }) => sum + streams.length, 0)
  const bar = progressBar('retrying', total, 'streams')
  let done = 0
  for (const { model, streams } of retries) {
    for (let from = 0; from < streams.length; from += MAX_STREAMS_PER_RETRY) {
      const batch = streams.slice(from, from + MAX_STREAMS_PER_RETRY)
      await retryBatch(installation, model, batch)
      bar.update((done += batch.length))
    }
  }
  bar.end()
  return readRetryResult(installation, retries)
}

async function requireActiveRunner({ reads }: Installation, model: ModelDeclaration): Promise<void> {
  if (await reads.isLeaseHeld(model)) return
  throw new OperationFailure(
    `No running process maintains ${model.name}, and only that process can retry: start the service with the ` +
      'role projections (adamant serve), then run this command again',
  )
}

async function retryBatch({ context, reads }: Installation, model: ModelDeclaration, streams: string[]) {
  const position = await retryStreams(context, { model: model.name, streams }, createOperatorOrigin())
  if (await new PolledProgress(await reads.model(model)).waitForPosition(position, RETRY_TIMEOUT_MS)) return
  throw new OperationFailure(
    `The service did not retry the streams within ${RETRY_TIMEOUT_MS / 1000} s. It will do so when it reaches the request in ` +
      'the event log; `adamant status` shows its position and lag',
  )
}

async function readRetryResult(
  installation: Installation,
  retries: readonly { readonly model: ModelDeclaration; readonly streams: readonly string[] }[],
): Promise<DeadLetterRetryResult> {
  const freed = []
  const left = []
  for (const { model, streams } of retries) {
    const { name } = model
    const reasons = new Map(
      (await readDeadLetters(installation, model)).deadLetters
        .toReversed()
        .map((letter) => [letter.stream, letter.reason]),
    )
    for (const stream of streams) {
      const reason = reasons.get(stream)
      if (reason === undefined) freed.push({ model: name, stream })
      else left.push({ model: name, stream, reason })
    }
  }
  return { freed, left }
}

const streamsOf = (deadLetters: readonly DeadLetter[]) => [...new Set(deadLetters.map(({ stream }) => stream))]

/** `dead-letters`: events that a read model could not fold, or that a reaction such as scoring could not process. */
export function deadLettersCommand(open: OpenInstallation): Command {
  const command = new Command('dead-letters')
    .description('List and retry dead letters: events that a read model or reaction could not process')
    .addHelpText('after', EXAMPLE)
  command
    .command('list')
    .description('List the dead letters of all read models and reactions, or of one model or stream')
    .addArgument(modelArgument())
    .argument('[stream]', 'Stream, such as diamond-7')
    .addHelpText('after', '\nExample:\n  adamant dead-letters list diamonds --json')
    .action((...args: DeadLettersArguments) => list(open, ...args))
  command
    .command('retry')
    .description('Retry parked streams from their first event; requires a running service')
    .addArgument(modelArgument())
    .argument('[stream]', 'Stream, such as diamond-7')
    .addHelpText('after', EXAMPLE)
    .action((...args: DeadLettersArguments) => retry(open, ...args))
  return command
}

const modelArgument = () =>
  new Argument('[model]', 'Read model or reaction').choices(CHECKPOINTED_MODELS.map(({ name }) => name))

const EXAMPLE = `
Examples:
  adamant dead-letters list
  adamant dead-letters retry diamonds diamond-7`

type DeadLettersArguments = [model: string | undefined, stream: string | undefined, options: OutputOptions]

async function list(open: OpenInstallation, ...[name, stream, options]: DeadLettersArguments): Promise<void> {
  const deadLettersByModel = await withInstallation(open, (installation) => findDeadLetters(installation, name, stream))
  const deadLetters = deadLettersByModel.flatMap(({ model: { name: modelName }, deadLetters: letters }) =>
    letters.map(({ position, revision, ...letter }) => ({
      model: modelName,
      ...letter,
      revision: Number(revision),
      position: String(position.commit),
    })),
  )
  const rows = deadLetters.map(({ model, stream: parkedStream, revision, type, reason }) => [
    model,
    `${parkedStream}@${revision}`,
    type,
    reason,
  ])
  const text = rows.length === 0 ? 'No dead letters' : table(['read model', 'event', 'type', 'reason'], rows)
  printResult(options, { deadLetters }, text)
}

async function retry(open: OpenInstallation, ...[name, stream, options]: DeadLettersArguments): Promise<void> {
  const { freed, left } = await withInstallation(open, async (installation) => {
    const deadLettersByModel = await findDeadLetters(installation, name, stream)
    if (stream !== undefined && deadLettersByModel.length === 0) throw new OperationFailure(`${stream} is not parked`)
    return retryDeadLetters(installation, deadLettersByModel)
  })
  const parkedLines = left.map(
    ({ model, stream: parkedStream, reason }) => `\n${parkedStream} is still parked by ${model}: ${reason}`,
  )
  printResult(options, { freed, left }, `Resumed ${formatQuantity(freed.length, 'stream')}${parkedLines.join('')}`)
  if (left.length > 0) process.exitCode = 1
}

async function findDeadLetters(installation: Installation, name: string | undefined, stream: string | undefined) {
  const models = CHECKPOINTED_MODELS.filter((model) => name === undefined || model.name === name)
  const deadLettersByModel = await Promise.all(models.map((model) => readDeadLetters(installation, model, stream)))
  return deadLettersByModel.filter(({ deadLetters: letters }: ModelDeadLetters) => letters.length > 0)
}
