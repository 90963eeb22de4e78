import { Argument, Command } from 'commander'
import { BadUsage, OperationFailure } from '../maintenance/operation.ts'
import { rebuildAll } from '../maintenance/rebuild.ts'
import type { AnyProjection } from '../projections/engine/read-model.ts'
import { lowerProcessPriority, spareOneCore } from '../runtime/priority.ts'
import { READ_MODELS } from '../wiring/consumers.ts'
import { verifyOwnLog } from '../wiring/known-log.ts'
import { explain } from './failure.ts'
import { withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatQuantity, printResult, report, type OutputOptions } from './output.ts'
import { abortOnStop } from './process-exit.ts'

type RebuildCommandOptions = OutputOptions & { readonly all?: true }

/** `rebuild`: rebuilds read models from the event log without downtime. */
export function rebuildCommand(open: OpenInstallation): Command {
  return new Command('rebuild')
    .description('Rebuild a read model from the event log without downtime')
    .addArgument(new Argument('[model]', 'Read model').choices(READ_MODELS.map(({ declaration }) => declaration.name)))
    .option('--all', 'Rebuild all read models, reading the log once')
    .addHelpText('after', EXAMPLE)
    .action((model: string | undefined, options: RebuildCommandOptions) => rebuild(open, model, options))
}

const EXAMPLE = `
Examples:
  adamant rebuild diamonds
  adamant rebuild --all --json

The service can keep running and accepting writes: it switches to the new build when that has caught up. An interrupted rebuild
resumes the next time you run it.`

async function rebuild(
  open: OpenInstallation,
  name: string | undefined,
  options: RebuildCommandOptions,
): Promise<void> {
  const models = selectModels(name, options)
  // Leave CPU time to a service on the same machine.
  lowerProcessPriority()
  spareOneCore()
  const { rebuilt, failures } = await withInstallation(open, async (installation) => {
    await verifyOwnLog(installation, { mayRecord: false })
    const signal = abortOnStop('stopped; run the same command again to resume')
    return rebuildAll(installation, models, { report, signal })
  })
  const lines = rebuilt.map(
    ({ model, events, seconds }) => `Rebuilt ${model}: ${formatQuantity(events, 'event')} in ${seconds.toFixed(1)} s`,
  )
  if (rebuilt.length > 0) printResult(options, { models: rebuilt }, lines.join('\n'))
  const messages = failures.map(({ model, error }) => `${model} was not rebuilt: ${explain(error)}`)
  if (messages.length > 0) throw new OperationFailure(messages.join('\n'))
}

/** @throws BadUsage */
function selectModels(name: string | undefined, { all }: RebuildCommandOptions): readonly AnyProjection[] {
  if ((name === undefined) === (all === undefined)) {
    const names = READ_MODELS.map(({ declaration }) => declaration.name).join(', ')
    throw new BadUsage(`Give a read model or --all, but not both; read models: ${names}`)
  }
  return READ_MODELS.filter(({ declaration }) => name === undefined || declaration.name === name)
}
