import { Command, InvalidArgumentError, Option } from 'commander'
import { OperationFailure } from '../maintenance/operation.ts'
import { verifySample } from '../maintenance/verify/sample.ts'
import { verifyInstallation, type VerificationReport } from '../maintenance/verify/verify.ts'
import { lowerProcessPriority, spareOneCore } from '../runtime/priority.ts'
import { verifyOwnLog } from '../wiring/known-log.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, formatQuantity, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

/** `verify`: checks the read models, the files and the vault against the event log. */
export function verifyCommand(open: OpenInstallation): Command {
  return new Command('verify')
    .description('Check the event log, and compare the read models, files and secrets with it')
    .addOption(
      new Option('--sample <count>', 'Check only a random sample of this many documents per read model').argParser(
        readCount,
      ),
    )
    .addHelpText('after', EXAMPLE)
    .action((options: VerifyOptions) => verify(open, options))
}

type VerifyOptions = OutputOptions & { readonly sample?: number }

function readCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be an integer from 1 to 999999999.')
}

const EXAMPLE = `
Examples:
  adamant verify --json
  adamant verify --sample 1000

A full check folds the whole log again. It needs about as much free disk space in DATA_DIR as the read models take.
A sample takes seconds: it checks the documents in the sample, the events that they are folded from, the inclusion of these events
in the Merkle tree, and the files. It does not detect missing documents and does not check secrets.

The service can keep running and accepting writes.
Exit code 1: there are differences; each is printed with its remedy.`

async function verify(open: OpenInstallation, options: VerifyOptions): Promise<void> {
  // Leave CPU time to a service on the same machine.
  lowerProcessPriority()
  spareOneCore()
  const { sample } = options
  const { report: verification, differences } = await withInstallation(open, async (installation) => {
    await verifyOwnLog(installation, { mayRecord: false })
    const signal = abortOnStop('Stopped before the check was complete')
    return sample === undefined
      ? verifyInstallation({ report, signal }, installation)
      : verifySample(installation, sample, signal)
  })
  printResult(options, verification, formatVerification(verification, differences))
  if (differences > 0) throw new OperationFailure(formatQuantity(differences, 'difference'))
}

function formatVerification(
  { events, seconds, models, files, vault, tree, differences }: VerificationReport,
  differenceCount: number,
): string {
  const documents = Object.entries(models).map(
    ([name, model]) => `${formatQuantity(model.documents, 'document')} of ${name}`,
  )
  const checkedItems = [
    formatQuantity(events, 'event'),
    ...documents,
    formatQuantity(files, 'file'),
    ...(vault === null ? [] : [`${formatQuantity(vault, 'item')} in the vault`]),
  ]
  const lines = [`Checked ${checkedItems.join(', ')} in ${seconds.toFixed(1)} s`]
  lines.push(`Merkle tree of ${formatQuantity(tree.size, 'event')}, root ${tree.root}`)
  for (const { where, what, do: remedy } of differences) lines.push(`${where}: ${what}`, `    ${remedy}`)
  if (differenceCount > differences.length) lines.push(`and ${formatCount(differenceCount - differences.length)} more`)
  if (differenceCount === 0) lines.push('No differences')
  return lines.join('\n')
}
