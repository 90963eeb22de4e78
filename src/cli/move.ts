import { Command } from 'commander'
import { abandonCopy, CopyEnded, finishCopy, openLog, type Moving } from '../commands/installation/move-log.ts'
import { isForReading } from '../domain/installation/moving.ts'
import { keepMasterKey } from '../credentials/master-keys.ts'
import { joinStores } from '../commands/installation/join-stores.ts'
import { joinedOf, type Installation } from '../wiring/installation.ts'
import { noted } from './administer.ts'
import { checkKeys } from '../maintenance/move/keys.ts'
import { checkKey, checkPlaces, placeOf, PLACES, settingsOf, type Place } from './places.ts'
import { described, planOf } from '../maintenance/move/plan.ts'
import { move, type Copied } from '../maintenance/move/steps.ts'
import { begin, mustBeSource } from '../maintenance/move/target.ts'
import { confirm } from './confirm.ts'
import { Failed } from '../maintenance/operation.ts'
import type { Open } from './installed.ts'
import { printResult, type OutputOptions } from './output.ts'
import { count } from './progress-bar.ts'
import { listenForStop } from './stop-signal.ts'

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
    .action((options: MoveOptions) => moveInstallation(open, options))
}

const HELP = `
${PLACES}

The source is closed for good when nearly everything is copied: from then on it answers reads only, and refuses writes
with 503. \`backup\` makes a copy that closes nothing. Interrupted at any point, the same command goes on where it was. MASTER_KEY must be that of the source; between
two folders it is taken from there.

Examples:
  npx adamant move --dry-run --from sqlite:./adamant-data --to esdb://log.example:2113,mongodb://db.example/adamant
  npx adamant move --yes --from env:PRODUCTION --to sqlite:./back`

async function moveInstallation(open: Open, options: MoveOptions): Promise<void> {
  const from = placeOf('--from', options.from, process.env)
  const to = placeOf('--to', options.to, process.env)
  checkPlaces(from, to)
  checkKey(from, to, process.env)
  const source = await open(settingsOf(from, process.env), 'existing')
  try {
    if (options.giveUp !== true) {
      const plan = await planOf(source, from, to)
      if (options.dryRun === true) return printResult(options, { ...plan, dryRun: true }, described(plan))
      await confirm({
        what: described(plan),
        yes: options.yes === true,
        instead: 'move closes its source for good: say so with --yes, or look at the plan with --dry-run',
        refused: 'Nothing was moved',
      })
    }
    if (to.folder !== undefined && !process.env['MASTER_KEY']) keepMasterKey(to.folder, source.keys.current)
    const target = await open(settingsOf(to, process.env), 'filled')
    try {
      const places = { from, to, source, target }
      const act = { act: options.giveUp === true ? 'move --give-up' : 'move', subject: `${from.shown} to ${to.shown}` }
      await noted(source.log, act, (by) =>
        (options.giveUp === true ? giveUp : copyAll)(places, options, { origin: by, clock: Date.now }),
      )
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

type Places = { readonly from: Place; readonly to: Place; readonly source: Installation; readonly target: Installation }

async function copyAll({ from, to, source, target }: Places, options: MoveOptions, steps: Moving): Promise<void> {
  const signal = listenForStop()
  const started = performance.now()
  await checkKeys(source, target)
  const { copy: id, done } = await begin(steps, source, target, from.shown)
  if (done !== undefined) {
    await finishCopy(steps, target.store, { copy: id, ...done })
    return printResult(options, { ...done, finishedBefore: true }, 'This move was finished before: nothing was done')
  }
  await mustBeSource(source, id)
  await joinStores({ store: target.store, ...steps }, await joinedOf(target))
  const sharedReads = from.reads === to.reads
  const copied = await move({ copy: id, source, target, sharedReads, to: to.shown, moving: steps, signal })
  const ends = { secrets: copied.vault.entries, from: from.shown, to: to.shown }
  printResult(options, { ...copied, ...ends, seconds: (performance.now() - started) / 1000 }, moved(copied, to))
}

function moved({ events, digest, files, vault, closedFor }: Copied, { shown }: Place): string {
  const { entries, mails } = vault
  const held = `${count(files)} files, ${count(entries)} secrets and ${count(mails)} mails`
  return [
    `${count(events)} events, ${held} are in ${shown} as they were, SHA-256 of the log ${digest}.`,
    `Nobody took writes for the last ${closedFor.toFixed(1)} s. Serve ${shown} now; the source answers reads only.`,
  ].join('\n')
}

async function giveUp({ source, target }: Places, options: MoveOptions, steps: Moving): Promise<void> {
  const closed = await target.store.closed()
  if (closed === undefined || isForReading(closed.why) || closed.why === 'fenced' || !closed.copy) throw isComplete()
  try {
    await abandonCopy(steps, target.store, closed.copy)
  } catch (error) {
    throw error instanceof CopyEnded ? isComplete() : error
  }
  await openLog(steps, source.store, closed.copy)
  printResult(options, { givenUp: closed.copy }, 'The source takes writes again; the target can be deleted')
}

const isComplete = () =>
  new Failed('The target is no unfinished copy: it may take writes of its own, so the source stays as it is')
