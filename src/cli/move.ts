import { Command } from 'commander'
import { writeMasterKeyIfMissing } from '../credentials/master-keys.ts'
import { planMove, type MovePlan } from '../maintenance/move/preconditions.ts'
import { abandonMove, moveInstallation, type MoveOperation, type MoveResult } from '../maintenance/move/move.ts'
import { runAdminAction, type OpenInstallation } from './with-installation.ts'
import { confirm } from './confirm.ts'
import { formatCount, printResult, report, type OutputOptions } from './output.ts'
import {
  checkKey,
  checkAddresses,
  parseInstallationAddress,
  INSTALLATION_ADDRESS_HELP,
  settingsOf,
  type InstallationAddress,
} from './installation-address.ts'
import { abortOnStop } from './process-exit.ts'

type MoveOptions = OutputOptions & {
  readonly from: string
  readonly to: string
  readonly yes?: true
  readonly dryRun?: true
  readonly giveUp?: true
}

/** `move`: a running installation moves to other engines, and back. */
export function moveCommand(open: OpenInstallation): Command {
  return new Command('move')
    .description('move an installation to other stores, beside the running service, and close the one that is left')
    .requiredOption('--from <installation>', 'the one that is there')
    .requiredOption('--to <installation>', 'an empty one')
    .option('--yes', 'do not ask: the source is closed for good, and whoever runs this knows')
    .option('--dry-run', 'show what would be done, and do nothing')
    .option('--give-up', 'let the source take writes again; what was copied can not be finished any more')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', HELP)
    .action((options: MoveOptions) => moveFrom(open, options))
}

const HELP = `
${INSTALLATION_ADDRESS_HELP}

The source is closed for good when nearly everything is copied: from then on it answers reads only, and refuses writes
with 503. \`backup\` makes a copy that closes nothing. Interrupted at any point, the same command goes on where it was. MASTER_KEY must be that of the source; between
two folders it is taken from there.

Examples:
  npx adamant move --dry-run --from sqlite:./adamant-data --to esdb://log.example:2113,mongodb://db.example/adamant
  npx adamant move --yes --from env:PRODUCTION --to sqlite:./back`

async function moveFrom(open: OpenInstallation, options: MoveOptions): Promise<void> {
  const from = parseInstallationAddress('--from', options.from, process.env)
  const to = parseInstallationAddress('--to', options.to, process.env)
  checkAddresses(from, to)
  checkKey(from, to, process.env)
  const source = await open(settingsOf(from, process.env), 'existing')
  try {
    if (options.giveUp !== true) {
      const plan = await planMove(source)
      const words = describePlan(plan, from, to)
      const shown = { ...plan, from: from.redactedText, to: to.redactedText, dryRun: true }
      if (options.dryRun === true) return printResult(options, shown, words)
      await confirm({
        message: words,
        isConfirmed: options.yes === true,
        nonInteractiveMessage: 'move closes its source for good: say so with --yes, or look at the plan with --dry-run',
        declinedMessage: 'Nothing was moved',
      })
    }
    if (to.folder !== undefined && !process.env['MASTER_KEY']) writeMasterKeyIfMissing(to.folder, source.keys.current)
    const target = await open(settingsOf(to, process.env), 'filled')
    try {
      const act = {
        act: options.giveUp === true ? 'move --give-up' : 'move',
        subject: `${from.redactedText} to ${to.redactedText}`,
      }
      await runAdminAction(source.log, act, (by) => {
        const ends = { source, target, moving: { origin: by, clock: Date.now } }
        return options.giveUp === true ? abandonAndPrint(ends, options) : moveAll(ends, from, to, options)
      })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

type MoveCommandContext = Pick<MoveOperation, 'source' | 'target' | 'moving'>

async function moveAll(
  ends: MoveCommandContext,
  from: InstallationAddress,
  to: InstallationAddress,
  options: MoveOptions,
): Promise<void> {
  const signal = abortOnStop('Stopped. Run the same command again, and it goes on where it was')
  const started = performance.now()
  const places = { from: from.redactedText, to: to.redactedText }
  const moved = await moveInstallation({
    ...ends,
    ...places,
    sharedReads: from.readModels === to.readModels,
    report,
    signal,
  })
  if ('finishedBefore' in moved) return printResult(options, moved, 'This move was finished before: nothing was done')
  const result = { ...moved, secrets: moved.vault.entries, ...places }
  printResult(options, { ...result, seconds: (performance.now() - started) / 1000 }, describeMoveResult(moved, to))
}

/** The plan, shown before the operator confirms it. */
function describePlan(
  { events, files, secrets, mails }: MovePlan,
  from: InstallationAddress,
  to: InstallationAddress,
): string {
  return `This moves an installation, and closes the one that is left for good:
  from  ${from.redactedText}: ${formatCount(events)} events, ${formatCount(files)} files, ${formatCount(secrets)} secrets, ${formatCount(mails)} mails
  to    ${to.redactedText}
  1. Log and files are copied and compared while the source is served.
  2. The source is closed: it answers reads only, from then on, and refuses writes with 503.
  3. What came since is copied and compared too, and the vault and waiting mails are copied.
  4. The target takes writes. Serve it then, and stop what serves the source.
Until 4 it can be taken back (--give-up); afterwards only a move back opens the source's data again, in an empty place.`
}

function describeMoveResult(
  { events, digest, files, vault, closedFor }: MoveResult,
  { redactedText }: InstallationAddress,
): string {
  const { entries, mails } = vault
  const held = `${formatCount(files)} files, ${formatCount(entries)} secrets and ${formatCount(mails)} mails`
  return [
    `${formatCount(events)} events, ${held} are in ${redactedText} as they were, SHA-256 of the log ${digest}.`,
    `Nobody took writes for the last ${closedFor.toFixed(1)} s. Serve ${redactedText} now; the source answers reads only.`,
  ].join('\n')
}

async function abandonAndPrint(ends: MoveCommandContext, options: MoveOptions): Promise<void> {
  const givenUp = await abandonMove(ends)
  printResult(options, { givenUp }, 'The source takes writes again; the target can be deleted')
}
