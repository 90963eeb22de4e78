import { Command, InvalidArgumentError, Option } from 'commander'
import { Failed } from '../maintenance/operation.ts'
import { verifySample } from '../maintenance/verify/sample.ts'
import { verifyInstallation, type Verified } from '../maintenance/verify/verify.ts'
import { lowerProcessPriority, spareOneCore } from '../runtime/priority.ts'
import { withInstallation, type Open } from './installed.ts'
import { count, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-end.ts'

/** `verify`: holds what is made of the log, and what belongs to it, to the log. */
export function verifyCommand(open: Open): Command {
  return new Command('verify')
    .description('fold the log afresh and compare it with the read models, the files and the vault')
    .addOption(
      new Option('--sample <count>', 'look only at so many documents of each read model, chosen by chance').argParser(
        readCount,
      ),
    )
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((options: VerifyOptions) => verify(open, options))
}

type VerifyOptions = OutputOptions & { readonly sample?: number }

function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 1.')
}

const EXAMPLE = `
Examples:
  npx adamant verify --json
  npx adamant verify --sample 1000

A sample takes seconds: the events that its documents are made of, their places in the hash tree, and their files. It finds nothing
that is missing, and nothing in the vault.

The service may run and be written to. It needs about as much room in DATA_DIR as the read models take.
Exit code 1: something differs; each difference is told with what to do.`

async function verify(open: Open, options: VerifyOptions): Promise<void> {
  // The service's requests come first where processors are scarce.
  lowerProcessPriority()
  spareOneCore()
  const { sample } = options
  const { verified, differences } = await withInstallation(open, (installation) => {
    const signal = abortOnStop('Stopped before it was through')
    return sample === undefined
      ? verifyInstallation({ report, signal }, installation)
      : verifySample(installation, sample, signal)
  })
  printResult(options, verified, shown(verified, differences))
  if (differences > 0) throw new Failed(`${count(differences)} ${differences === 1 ? 'difference' : 'differences'}`)
}

function shown({ events, seconds, models, files, vault, tree, differences }: Verified, total: number): string {
  const documents = Object.entries(models).map(([name, model]) => `${count(model.documents)} documents of ${name}`)
  const looked = [
    `${count(events)} events`,
    ...documents,
    `${count(files)} files`,
    ...(vault === null ? [] : [`${count(vault)} things in the vault`]),
  ]
  const lines = [`looked at ${looked.join(', ')} in ${seconds.toFixed(1)} s`]
  lines.push(`the root of the hash tree over ${count(tree.size)} events is ${tree.root}`)
  for (const { where, what, do: remedy } of differences) lines.push(`${where}: ${what}`, `    ${remedy}`)
  if (total > differences.length) lines.push(`and ${count(total - differences.length)} more`)
  if (total === 0) lines.push('no difference')
  return lines.join('\n')
}
