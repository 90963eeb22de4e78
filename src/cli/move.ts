import { Command } from 'commander'
import { keepMasterKey } from '../credentials/master-keys.ts'
import { planOf, type Plan } from '../maintenance/move/ends.ts'
import { giveUpMove, moveInstallation, type Move, type Moved } from '../maintenance/move/move.ts'
import { noted, type Open } from './installed.ts'
import { confirm } from './confirm.ts'
import { count, printResult, report, type OutputOptions } from './output.ts'
import { checkKey, checkPlaces, placeOf, PLACES, settingsOf, type Place } from './places.ts'
import { abortOnStop } from './process-end.ts'

type MoveOptions = OutputOptions & {
  readonly from: string
  readonly to: string
  readonly yes?: true
  readonly dryRun?: true
  readonly giveUp?: true
}

/** `move`: a running installation moves to other engines, and back. */
export function moveCommand(open: Open): Command {
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
${PLACES}

The source is closed for good when nearly everything is copied: from then on it answers reads only, and refuses writes
with 503. \`backup\` makes a copy that closes nothing. Interrupted at any point, the same command goes on where it was. MASTER_KEY must be that of the source; between
two folders it is taken from there.

Examples:
  npx adamant move --dry-run --from sqlite:./adamant-data --to esdb://log.example:2113,mongodb://db.example/adamant
  npx adamant move --yes --from env:PRODUCTION --to sqlite:./back`

async function moveFrom(open: Open, options: MoveOptions): Promise<void> {
  const from = placeOf('--from', options.from, process.env)
  const to = placeOf('--to', options.to, process.env)
  checkPlaces(from, to)
  checkKey(from, to, process.env)
  const source = await open(settingsOf(from, process.env), 'existing')
  try {
    if (options.giveUp !== true) {
      const plan = await planOf(source)
      const words = described(plan, from, to)
      const shown = { ...plan, from: from.shown, to: to.shown, dryRun: true }
      if (options.dryRun === true) return printResult(options, shown, words)
      await confirm({
        what: words,
        yes: options.yes === true,
        instead: 'move closes its source for good: say so with --yes, or look at the plan with --dry-run',
        refused: 'Nothing was moved',
      })
    }
    if (to.folder !== undefined && !process.env['MASTER_KEY']) keepMasterKey(to.folder, source.keys.current)
    const target = await open(settingsOf(to, process.env), 'filled')
    try {
      const act = { act: options.giveUp === true ? 'move --give-up' : 'move', subject: `${from.shown} to ${to.shown}` }
      await noted(source.log, act, (by) => {
        const ends = { source, target, moving: { origin: by, clock: Date.now } }
        return options.giveUp === true ? giveUp(ends, options) : moveAll(ends, from, to, options)
      })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

type Ends = Pick<Move, 'source' | 'target' | 'moving'>

async function moveAll(ends: Ends, from: Place, to: Place, options: MoveOptions): Promise<void> {
  const signal = abortOnStop('Stopped. Run the same command again, and it goes on where it was')
  const started = performance.now()
  const places = { from: from.shown, to: to.shown }
  const moved = await moveInstallation({ ...ends, ...places, sharedReads: from.reads === to.reads, report, signal })
  if ('finishedBefore' in moved) return printResult(options, moved, 'This move was finished before: nothing was done')
  const result = { ...moved, secrets: moved.vault.entries, ...places }
  printResult(options, { ...result, seconds: (performance.now() - started) / 1000 }, shown(moved, to))
}

/** The plan, shown before the operator confirms it. */
function described({ events, files, secrets, mails }: Plan, from: Place, to: Place): string {
  return `This moves an installation, and closes the one that is left for good:
  from  ${from.shown}: ${count(events)} events, ${count(files)} files, ${count(secrets)} secrets, ${count(mails)} mails
  to    ${to.shown}
  1. Log and files are copied and compared while the source is served.
  2. The source is closed: it answers reads only, from then on, and refuses writes with 503.
  3. What came since is copied and compared too, and the vault and waiting mails are copied.
  4. The target takes writes. Serve it then, and stop what serves the source.
Until 4 it can be taken back (--give-up); afterwards only a move back opens the source's data again, in an empty place.`
}

function shown({ events, digest, files, vault, closedFor }: Moved, { shown }: Place): string {
  const { entries, mails } = vault
  const held = `${count(files)} files, ${count(entries)} secrets and ${count(mails)} mails`
  return [
    `${count(events)} events, ${held} are in ${shown} as they were, SHA-256 of the log ${digest}.`,
    `Nobody took writes for the last ${closedFor.toFixed(1)} s. Serve ${shown} now; the source answers reads only.`,
  ].join('\n')
}

async function giveUp(ends: Ends, options: MoveOptions): Promise<void> {
  const givenUp = await giveUpMove(ends)
  printResult(options, { givenUp }, 'The source takes writes again; the target can be deleted')
}
