import { Argument, Command } from 'commander'
import type { Installation } from '../wiring/installation.ts'
import { CHECKPOINTED } from '../wiring/followers.ts'
import { Failed } from './failure.ts'
import { retried, setAside, type SetAside } from './dead-letters/retry.ts'
import { withInstallation, type Open } from './installed.ts'
import { printResult, table, type OutputOptions } from './output.ts'

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
