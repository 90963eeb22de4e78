import { Command } from 'commander'
import { availableParallelism } from 'node:os'
import { MODEL_VERSION } from '../commands/scores/score-diamonds.ts'
import type { Installation } from '../wiring/installation.ts'
import { rescore, readRescoringStatus } from '../reactions/scoring/rescoring.ts'
import { createStoneModels } from '../wiring/scoring.ts'
import { TracedCutCache } from '../optics/threads/traced-cut-cache.ts'
import { openTracePool } from '../optics/threads/trace-pool.ts'
import { createOperatorOrigin, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, formatQuantity, printResult, progressBar, type OutputOptions } from './output.ts'
import { awaitReadModels } from './await-read-models.ts'
import { listenForStop, stoppedAfter } from './process-exit.ts'

/** Stones per transaction; a stop signal takes effect between two batches. */
const BATCH_SIZE = 100

/** `rescore`: applies the scoring model of a new release to existing diamonds. */
export function rescoreCommand(open: OpenInstallation): Command {
  return new Command('rescore')
    .description('Rescore every diamond that was last scored by an older version of the scoring model')
    .addHelpText('after', EXAMPLE)
    .action((options: OutputOptions) => rescoreAll(open, options))
}

const EXAMPLE = `
Example:
  adamant rescore

The previous scores stay in the history. An interrupted run resumes the next time you run it.`

async function rescoreAll(open: OpenInstallation, options: OutputOptions): Promise<void> {
  const started = performance.now()
  await withInstallation(open, async (installation) => {
    const { due, current, newer } = await readRescoringStatus(installation.store)
    const rescored = await rescoreInBatches(installation, due)
    await awaitReadModels(installation, await installation.store.head())
    const result = { model: MODEL_VERSION, rescored, current, newer, seconds: (performance.now() - started) / 1000 }
    const newerText =
      newer === 0 ? '' : `, kept the scores of ${formatQuantity(newer, 'stone')} scored by a newer release`
    const text = `Rescored ${formatQuantity(rescored, 'stone')}; ${formatCount(current)} already had scores of model ${MODEL_VERSION}${newerText}`
    printResult(options, result, text)
  })
}

/** @throws OperationFailure if it is stopped before the end */
async function rescoreInBatches({ files, context, log }: Installation, due: readonly number[]): Promise<number> {
  const signal = listenForStop()
  const pool = openTracePool({ threads: availableParallelism(), lowPriority: true })
  const cuts = new TracedCutCache(pool, (cut, reason) =>
    log.info({ cut, reason }, 'no diamond can have these proportions'),
  )
  const models = createStoneModels(pool, files)
  const tools = { ...context, cuts, models, log }
  const origin = createOperatorOrigin()
  const bar = progressBar('rescoring', due.length, 'stones')
  let rescored = 0
  try {
    for (let from = 0; from < due.length; from += BATCH_SIZE) {
      if (signal.aborted)
        throw stoppedAfter(`rescoring ${formatCount(rescored)} of ${formatQuantity(due.length, 'stone')}`)
      rescored += await rescore(tools, due.slice(from, from + BATCH_SIZE), origin)
      bar.update(Math.min(from + BATCH_SIZE, due.length))
    }
  } finally {
    bar.end()
    await pool.close()
  }
  return rescored
}
