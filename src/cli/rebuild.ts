import { Argument, Command } from 'commander'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { rebuildAll } from '../maintenance/rebuild.ts'
import type { AnyProjection } from '../projections/engine/read-model.ts'
import { lowerProcessPriority, spareOneCore } from '../runtime/priority.ts'
import { READ_MODELS } from '../wiring/followers.ts'
import { explain } from './failure.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

type RebuildCommandOptions = OutputOptions & { readonly all?: true }

/** `rebuild`: makes read models of the log anew, beside the live ones. */
export function rebuildCommand(open: OpenInstallation): Command {
  return new Command('rebuild')
    .description('make a read model of the log anew, beside the live one, and switch to it when it has caught up')
    .addArgument(new Argument('[model]').choices(READ_MODELS.map(({ declaration }) => declaration.name)))
    .option('--all', 'every read model, in one read of the log')
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((model: string | undefined, options: RebuildCommandOptions) => rebuild(open, model, options))
}

const EXAMPLE = `
Examples:
  npx adamant rebuild diamonds
  npx adamant rebuild --all --json

The service may run and be written to. A rebuild that was stopped or killed is resumed by the next one.`

async function rebuild(
  open: OpenInstallation,
  name: string | undefined,
  options: RebuildCommandOptions,
): Promise<void> {
  const models = selectModels(name, options)
  // The service's requests come first where processors are scarce.
  lowerProcessPriority()
  spareOneCore()
  const { rebuilt, faults } = await withInstallation(open, (installation) =>
    rebuildAll(installation, models, { report, signal: abortOnStop('stopped; the next rebuild resumes it') }),
  )
  const lines = rebuilt.map(
    ({ model, events, seconds }) => `rebuilt ${model}: ${formatCount(events)} events in ${seconds.toFixed(1)} s`,
  )
  if (rebuilt.length > 0) printResult(options, { models: rebuilt }, lines.join('\n'))
  const words = faults.map(({ model, error }) => `${model} was not rebuilt: ${explain(error)}`)
  if (words.length > 0) throw new OperationFailure(words.join('\n'))
}

/** @throws BadUsage */
function selectModels(name: string | undefined, { all }: RebuildCommandOptions): readonly AnyProjection[] {
  if ((name === undefined) === (all === undefined)) {
    const names = READ_MODELS.map(({ declaration }) => declaration.name).join(', ')
    throw new BadUsage(`Say which read model to rebuild, or --all, and not both; there are ${names}`)
  }
  return READ_MODELS.filter(({ declaration }) => name === undefined || declaration.name === name)
}
