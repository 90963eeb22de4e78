import { Command, InvalidArgumentError } from 'commander'
import { resolve } from 'node:path'
import { checkNewFolder } from '../maintenance/new-folder.ts'
import { replay, type ReplayResult, type ReplayCutoff } from '../maintenance/replay.ts'
import { formatPosition } from '../stores/ports/event-store.ts'
import { readSettings } from '../wiring/settings.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, note, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'
import { parseUntil } from './times.ts'

type ReplayOptions = OutputOptions & { readonly until: ReplayCutoff; readonly into: string }

/** `replay`: the whole state at a past moment, as an installation that is only read. */
export function replayCommand(open: OpenInstallation): Command {
  return new Command('replay')
    .description('make an installation that shows everything as it was at a moment, beside the running service')
    .requiredOption('--until <moment>', 'a time, or a position as `npx adamant events` prints it', parseCutoff)
    .requiredOption('--into <folder>', 'a new or empty one')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((options: ReplayOptions) => replayInto(open, options))
}

const HELP = `
The folder gets the log up to the moment, the files of its certifications and, unless MASTER_KEY is set, the master key:
keep it as safe as DATA_DIR.
One-time secrets are not kept for the past. Serve it on a port of its own; it answers reads, to tokens of the installation
too, and never takes a write. A time is ISO 8601, a day or a minute means its end; without offset it is UTC.

Example:
  npx adamant replay --until 2026-11-22T10:00:00Z --into /tmp/then
  DATA_DIR=/tmp/then EVENT_STORE=sqlite READ_MODEL=sqlite PORT=8090 npx adamant serve --read-only`

const POSITION = /^(\d{1,19})(?:\/(\d{1,19}))?$/

/** @throws InvalidArgumentError */
function parseCutoff(text: string): ReplayCutoff {
  const [, commit, prepare = commit] = POSITION.exec(text) ?? []
  if (commit !== undefined && prepare !== undefined) {
    return { text: `position ${text}`, cutoff: { position: { commit: BigInt(commit), prepare: BigInt(prepare) } } }
  }
  try {
    return { text, cutoff: { time: parseUntil(text) } }
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new InvalidArgumentError(`${error.message} Or a position, such as 1234.`)
  }
}

async function replayInto(open: OpenInstallation, options: ReplayOptions): Promise<void> {
  const into = resolve(options.into)
  const { until } = options
  checkNewFolder(into, resolve(readSettings(process.env).DATA_DIR))
  const act = { act: 'replay', subject: `${until.text} into ${into}` }
  await withInstallation(
    open,
    asAdminAction(act, async (source, origin) => {
      const moving = { origin, clock: Date.now }
      const signal = abortOnStop('Stopped. Nothing was made')
      print(await replay({ open, source, into, until, moving, report, signal }), into, options)
    }),
  )
}

function print({ events, last, missing }: ReplayResult, into: string, options: ReplayOptions): void {
  if (missing.length > 0) {
    note(`${formatCount(missing.length)} files of that time are gone: they were removed since, and answer 404`)
  }
  const position = formatPosition(last.position)
  const text = `${formatCount(events)} events, up to position ${position}, are in ${into}. Serve it by \`serve --read-only\`.`
  printResult(options, { until: options.until.text, position, events, into }, text)
}
