import { Command } from 'commander'
import { constants, setPriority } from 'node:os'
import type { Installation } from '../wiring/installation.ts'
import { withScratchModels } from '../wiring/scratch-models.ts'
import { Failed } from './failure.ts'
import { withInstallation, type Open } from './installed.ts'
import { printResult, type OutputOptions } from './output.ts'
import { count } from './progress-bar.ts'
import { listenForStop } from './stop-signal.ts'
import { alone } from './verify/alone.ts'
import { verifyInstallation, type Verified } from './verify/verify-installation.ts'

/** `verify`: holds what is made of the log, and what belongs to it, to the log. */
export function verifyCommand(open: Open): Command {
  return new Command('verify')
    .description('fold the log afresh and compare it with the read models, the files and the vault')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((options: OutputOptions) => verify(open, options))
}

const EXAMPLE = `
Example:
  npx adamant verify --json

The service may run and be written to. It needs about as much room in DATA_DIR as the read models take.
Exit code 1: something differs; each difference is told with what to do.`

async function verify(open: Open, options: OutputOptions): Promise<void> {
  // The service's requests come first where processors are scarce.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  const { verified, differences } = await withInstallation(open, verifyAlone)
  printResult(options, verified, shown(verified, differences))
  if (differences > 0) throw new Failed(`${count(differences)} ${differences === 1 ? 'difference' : 'differences'}`)
}

async function verifyAlone(installation: Installation) {
  const stop = new AbortController()
  void listenForStop().first.then(() => stop.abort(new Failed('Stopped before it was through')))
  return alone(installation.reads, () =>
    withScratchModels(installation.settings, (scratch) => verifyInstallation(installation, scratch, stop.signal)),
  )
}

function shown({ events, seconds, models, files, vault, tree, differences }: Verified, total: number): string {
  const documents = Object.entries(models).map(([name, model]) => `${count(model.documents)} documents of ${name}`)
  const looked = [
    `${count(events)} events`,
    ...documents,
    `${count(files)} files`,
    `${count(vault)} things in the vault`,
  ]
  const lines = [`looked at ${looked.join(', ')} in ${seconds.toFixed(1)} s`]
  lines.push(`the root of the hash tree over ${count(tree.size)} events is ${tree.root}`)
  for (const { where, what, do: remedy } of differences) lines.push(`${where}: ${what}`, `    ${remedy}`)
  if (total > differences.length) lines.push(`and ${count(total - differences.length)} more`)
  if (total === 0) lines.push('no difference')
  return lines.join('\n')
}
