import { Command } from 'commander'
import { availableParallelism } from 'node:os'
import { MODEL_VERSION } from '../commands/scores/score-diamonds.ts'
import type { Installation } from '../wiring/installation.ts'
import { rescore, readRescoringStatus } from '../reactions/scoring/rescoring.ts'
import { createStoneModels } from '../wiring/scoring.ts'
import { TracedCutCache } from '../scoring/traced-cut-cache.ts'
import { openTracePool } from '../scoring/trace-pool.ts'
import { OperationFailure } from '../maintenance/operation.ts'
import { createOperatorOrigin, withInstallation, type OpenInstallation } from './with-installation.ts'
import { formatCount, printResult, progressBar, type OutputOptions } from './output.ts'
import { awaitReadModels } from './await-read-models.ts'
import { listenForStop } from './process-exit.ts'

/** Stones that are written in one transaction, and between two looks at whether to stop. */
const BATCH_SIZE = 100

/** `rescore`: what a new release's scoring model says of the stones that an older one has scored. */
export function rescoreCommand(open: OpenInstallation): Command {
  return new Command('rescore')
    .description(
      "score again every diamond whose last scores are of an older model than this release's; they stay in the history",
    )
    .option('--json', 'print one line of JSON')
    .addHelpText('after', EXAMPLE)
    .action((options: OutputOptions) => rescoreAll(open, options))
}

const EXAMPLE = `
Example:
  npx adamant rescore

It can be stopped at any time; the next run goes on where it was.`

async function rescoreAll(open: OpenInstallation, options: OutputOptions): Promise<void> {
  const started = performance.now()
  await withInstallation(open, async (installation) => {
    const { due, current, newer } = await readRescoringStatus(installation.store)
    const rescored = await rescoreInBatches(installation, due)
    await awaitReadModels(installation, await installation.store.head())
    const result = { model: MODEL_VERSION, rescored, current, newer, seconds: (performance.now() - started) / 1000 }
    const left = newer === 0 ? '' : `; ${formatCount(newer)} have scores of a newer release and keep them`
    const text = `scored ${formatCount(rescored)} stones again, ${formatCount(current)} had scores of model ${MODEL_VERSION} already${left}`
    printResult(options, result, text)
  })
}

/** @throws Failed when it was stopped before the end */
async function rescoreInBatches({ files, writing, log }: Installation, due: readonly number[]): Promise<number> {
  const signal = listenForStop()
  const pool = openTracePool({ threads: availableParallelism(), lowPriority: true })
  const traces = new TracedCutCache(pool, (cut, reason) =>
    log.info({ cut, reason }, 'no stone can have these proportions'),
  )
  const models = createStoneModels(pool, files)
  const tools = { ...writing, traced: traces.get, tracedModel: models.trace, log }
  const origin = createOperatorOrigin()
  const bar = progressBar('rescoring', due.length, 'stones')
  let rescored = 0
  try {
    for (let from = 0; from < due.length; from += BATCH_SIZE) {
      if (signal.isReceived)
        throw new OperationFailure(
          `Stopped: ${formatCount(rescored)} of ${formatCount(due.length)} stones were scored again`,
        )
      rescored += await rescore(tools, due.slice(from, from + BATCH_SIZE), origin)
      bar.update(Math.min(from + BATCH_SIZE, due.length))
    }
  } finally {
    bar.end()
    await pool.close()
  }
  return rescored
}
