import { Command } from 'commander'
import { writeMasterKeyIfMissing } from '../credentials/master-keys.ts'
import { planMove, type MovePlan } from '../maintenance/move/preconditions.ts'
import { abandonMove, moveInstallation, type MoveOperation, type MoveResult } from '../maintenance/move/move.ts'
import { runAdminAction, type OpenInstallation } from './with-installation.ts'
import { confirm } from './confirm.ts'
import { formatQuantity, note, printResult, report, type OutputOptions } from './output.ts'
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

/** `move`: migrates a running installation to other stores. */
export function moveCommand(open: OpenInstallation): Command {
  return new Command('move')
    .description('Migrate an installation to other stores while it runs, then make the source read-only')
    .requiredOption('--from <installation>', 'Source installation')
    .requiredOption('--to <installation>', 'Target installation, empty')
    .option('--yes', 'Skip the confirmation prompt')
    .option('--dry-run', 'Show the plan without doing anything')
    .option('--give-up', 'Abandon an unfinished move, so that the source accepts writes again')
    .addHelpText('after', HELP)
    .action((options: MoveOptions) => moveFrom(open, options))
}

const HELP = `
${INSTALLATION_ADDRESS_HELP}

The source becomes read-only permanently once nearly everything is copied: from then on it rejects writes with 503. To copy an
installation that continues to accept writes, use \`backup\`. If a move is interrupted, run the same command again to resume it.
MASTER_KEY must be the master key of the source; between two folders it is read from the source's folder.

Examples:
  adamant move --dry-run --from sqlite:./adamant-data --to esdb://log.example:2113,mongodb://db.example/adamant
  adamant move --yes --from env:PRODUCTION --to sqlite:./back`

async function moveFrom(open: OpenInstallation, options: MoveOptions): Promise<void> {
  const from = parseInstallationAddress('--from', options.from, process.env)
  const to = parseInstallationAddress('--to', options.to, process.env)
  checkAddresses(from, to)
  checkKey(from, to, process.env)
  const source = await open(settingsOf(from, process.env), 'existing')
  try {
    if (options.giveUp !== true) {
      const plan = await planMove(source)
      const planText = describePlan(plan, from, to)
      const planResult = { ...plan, from: from.redactedText, to: to.redactedText, dryRun: true }
      if (options.dryRun === true) return printResult(options, planResult, planText)
      await confirm({
        message: planText,
        isConfirmed: options.yes === true,
        nonInteractiveMessage:
          'move makes its source read-only permanently: confirm with --yes, or show the plan with --dry-run',
        declinedMessage: 'Cancelled; nothing was moved',
      })
    }
    if (to.folder !== undefined && !process.env['MASTER_KEY']) writeMasterKeyIfMissing(to.folder, source.keys.current)
    const target = await open(settingsOf(to, process.env), 'filled')
    try {
      const action = {
        act: options.giveUp === true ? 'move --give-up' : 'move',
        subject: `${from.redactedText} to ${to.redactedText}`,
      }
      await runAdminAction(source.log, action, (origin) => {
        const context = { source, target, moveContext: { origin, clock: Date.now } }
        return options.giveUp === true ? abandonAndPrint(context, options) : moveAll(context, from, to, options)
      })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

type MoveCommandContext = Pick<MoveOperation, 'source' | 'target' | 'moveContext'>

async function moveAll(
  context: MoveCommandContext,
  from: InstallationAddress,
  to: InstallationAddress,
  options: MoveOptions,
): Promise<void> {
  const signal = abortOnStop('Stopped. Run the same command again to resume')
  const started = performance.now()
  const addresses = { from: from.redactedText, to: to.redactedText }
  const moveResult = await moveInstallation({
    ...context,
    ...addresses,
    sharesReadStore: from.readModels === to.readModels,
    report,
    signal,
  })
  if ('finishedBefore' in moveResult)
    return printResult(options, moveResult, 'This move is already complete: nothing was done')
  const result = { ...moveResult, secrets: moveResult.vault.entries, ...addresses }
  printResult(options, { ...result, seconds: (performance.now() - started) / 1000 }, describeMoveResult(moveResult, to))
  if (process.env['MASTER_KEY'])
    note('The target has the same master key: set MASTER_KEY for its service, since no file contains the key')
}

function describePlan(
  { events, files, secrets, mails }: MovePlan,
  from: InstallationAddress,
  to: InstallationAddress,
): string {
  const contents = describeContents({ events, files, secrets, mails })
  return `This moves an installation, and makes the source read-only permanently:
  from  ${from.redactedText}: ${contents}
  to    ${to.redactedText}
  1. The event log and the files are copied and compared while the source keeps running.
  2. The source becomes read-only and rejects writes with 503.
  3. Everything written since is copied and compared, as are the secrets and the queued mails.
  4. The target accepts writes. Start the service on the target then, and stop it on the source.
Before step 4 you can abandon the move with --give-up. Afterwards the only way back is to move the target to another empty installation.`
}

function describeMoveResult(
  { events, digest, files, vault, closedFor }: MoveResult,
  { redactedText }: InstallationAddress,
): string {
  const { entries, mails } = vault
  return [
    `Moved ${describeContents({ events, files, secrets: entries, mails })} to ${redactedText}. SHA-256 of the log: ${digest}`,
    `Writes were rejected for ${closedFor.toFixed(1)} s. Start the service on ${redactedText} now; the source is read-only.`,
  ].join('\n')
}

const describeContents = ({ events, files, secrets, mails }: MovePlan): string =>
  [
    formatQuantity(events, 'event'),
    formatQuantity(files, 'file'),
    formatQuantity(secrets, 'secret'),
    formatQuantity(mails, 'mail'),
  ].join(', ')

async function abandonAndPrint(context: MoveCommandContext, options: MoveOptions): Promise<void> {
  const givenUp = await abandonMove(context)
  printResult(options, { givenUp }, 'The source accepts writes again; the target can be deleted')
}
