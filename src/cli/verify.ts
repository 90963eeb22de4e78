import { Command, InvalidArgumentError, Option } from 'commander'
import { OperationFailure } from '../maintenance/operation.ts'
import { verifySample } from '../maintenance/verify/sample.ts'
import { verifyInstallation, type VerificationReport } from '../maintenance/verify/verify.ts'
import { lowerProcessPriority, spareOneCore } from '../runtime/priority.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

/** `verify`: holds what is made of the log, and what belongs to it, to the log. */
export function verifyCommand(open: OpenInstallation): Command {
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

async function verify(open: OpenInstallation, options: VerifyOptions): Promise<void> {
  // The service's requests come first where processors are scarce.
  lowerProcessPriority()
  spareOneCore()
  const { sample } = options
  const { report: verified, differences } = await withInstallation(open, (installation) => {
    const signal = abortOnStop('Stopped before it was through')
    return sample === undefined
      ? verifyInstallation({ report, signal }, installation)
      : verifySample(installation, sample, signal)
  })
  printResult(options, verified, formatVerification(verified, differences))
  if (differences > 0)
    throw new OperationFailure(`${formatCount(differences)} ${differences === 1 ? 'difference' : 'differences'}`)
}

function formatVerification(
  { events, seconds, models, files, vault, tree, differences }: VerificationReport,
  total: number,
): string {
  const documents = Object.entries(models).map(
    ([name, model]) => `${formatCount(model.documents)} documents of ${name}`,
  )
  const looked = [
    `${formatCount(events)} events`,
    ...documents,
    `${formatCount(files)} files`,
    ...(vault === null ? [] : [`${formatCount(vault)} things in the vault`]),
  ]
  const lines = [`looked at ${looked.join(', ')} in ${seconds.toFixed(1)} s`]
  lines.push(`the root of the hash tree over ${formatCount(tree.size)} events is ${tree.root}`)
  for (const { where, what, do: remedy } of differences) lines.push(`${where}: ${what}`, `    ${remedy}`)
  if (total > differences.length) lines.push(`and ${formatCount(total - differences.length)} more`)
  if (total === 0) lines.push('no difference')
  return lines.join('\n')
}
