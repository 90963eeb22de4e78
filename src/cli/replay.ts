import { Command, InvalidArgumentError } from 'commander'
import { resolve } from 'node:path'
import { checkNewFolder } from '../maintenance/new-folder.ts'
import { replay, type ReplayResult, type ReplayCutoff } from '../maintenance/replay.ts'
import { formatPosition, parsePosition } from '../stores/ports/event-store.ts'
import { readSettings } from '../wiring/settings.ts'
import { asAdminAction, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, formatQuantity, note, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'
import { parseUntil } from './times.ts'

type ReplayOptions = OutputOptions & { readonly until: ReplayCutoff; readonly into: string }

/** `replay`: a read-only installation with the state at a past point in time. */
export function replayCommand(open: OpenInstallation): Command {
  return new Command('replay')
    .description('Create a read-only installation with the state at a past point in time, without downtime')
    .requiredOption('--until <moment>', 'ISO 8601 time or date, or a position as printed by `events`', parseCutoff)
    .requiredOption('--into <folder>', 'New or empty folder for the installation')
    .addHelpText('after', HELP)
    .action((options: ReplayOptions) => replayInto(open, options))
}

const HELP = `
The folder receives the event log up to that point, the files that it refers to and, unless MASTER_KEY is set, the master key:
protect it like DATA_DIR. One-time secrets are not included.
Serve it on a separate port. It rejects writes; tokens of the original installation can read it.
Times without an offset are UTC. A date or a minute includes all of it.

Example:
  adamant replay --until 2026-11-22T10:00:00Z --into /tmp/then
  DATA_DIR=/tmp/then EVENT_STORE=sqlite READ_MODEL=sqlite PORT=8090 adamant serve --read-only`

/** @throws InvalidArgumentError */
function parseCutoff(text: string): ReplayCutoff {
  const position = parsePosition(text)
  if (position !== undefined) return { text: `position ${text}`, cutoff: { position } }
  try {
    return { text, cutoff: { time: parseUntil(text) } }
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error
    throw new InvalidArgumentError(`${error.message} A position such as 1234 is also valid.`)
  }
}

async function replayInto(open: OpenInstallation, options: ReplayOptions): Promise<void> {
  const into = resolve(options.into)
  const { until } = options
  checkNewFolder(into, resolve(readSettings(process.env).DATA_DIR))
  const action = { act: 'replay', subject: `${until.text} into ${into}` }
  await withInstallation(
    open,
    asAdminAction(action, async (source, origin) => {
      const moveContext = { origin, clock: Date.now }
      const signal = abortOnStop('Stopped; no installation was created')
      print(await replay({ open, source, into, until, moveContext, report, signal }), into, options)
    }),
  )
}

function print({ events, last, missing }: ReplayResult, into: string, options: ReplayOptions): void {
  if (missing.length > 0) {
    note(`Files deleted since that time, not copied: ${formatCount(missing.length)}. Requests for them return 404`)
  }
  const position = formatPosition(last.position)
  const text = `Copied ${formatQuantity(events, 'event')}, up to position ${position}, to ${into}. Start it with \`serve --read-only\`.`
  printResult(options, { until: options.until.text, position, events, into }, text)
}
