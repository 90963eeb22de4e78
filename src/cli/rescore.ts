import { Command } from 'commander'
import { availableParallelism } from 'node:os'
import { MODEL_VERSION } from '../commands/scores/score-diamonds.ts'
import type { Installation } from '../wiring/installation.ts'
import { rescore, standingsOf } from '../reactions/scoring/rescoring.ts'
import { stoneModelsFrom } from '../wiring/scoring.ts'
import { CutTraces } from '../scoring/cut-traces.ts'
import { openTracePool } from '../scoring/trace-pool.ts'
import { Failed } from '../maintenance/operation.ts'
import { operator, withInstallation, type Open } from './installed.ts'
import { count, printResult, progressBar, type OutputOptions } from './output.ts'
import { awaitReadModels } from './read-models.ts'
import { listenForStop } from './process-end.ts'

/** Stones that are written in one transaction, and between two looks at whether to stop. */
const AT_ONCE = 100

/** `rescore`: what a new release's scoring model says of the stones that an older one has scored. */
export function rescoreCommand(open: Open): Command {
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

async function rescoreAll(open: Open, options: OutputOptions): Promise<void> {
  const started = performance.now()
  await withInstallation(open, async (installation) => {
    const { due, current, newer } = await standingsOf(installation.store)
    const rescored = await inParts(installation, due)
    await awaitReadModels(installation, await installation.store.head())
    const result = { model: MODEL_VERSION, rescored, current, newer, seconds: (performance.now() - started) / 1000 }
    const left = newer === 0 ? '' : `; ${count(newer)} have scores of a newer release and keep them`
    const text = `scored ${count(rescored)} stones again, ${count(current)} had scores of model ${MODEL_VERSION} already${left}`
    printResult(options, result, text)
  })
}

/** @throws Failed when it was stopped before the end */
async function inParts({ files, writing, log }: Installation, due: readonly number[]): Promise<number> {
  const signal = listenForStop()
  const pool = openTracePool({ threads: availableParallelism(), lowPriority: true })
  const traces = new CutTraces(pool, (cut, reason) => log.info({ cut, reason }, 'no stone can have these proportions'))
  const models = stoneModelsFrom(pool, files)
  const tools = { ...writing, traced: traces.of, tracedModel: models.traced, log }
  const origin = operator()
  const bar = progressBar('rescoring', due.length, 'stones')
  let rescored = 0
  try {
    for (let from = 0; from < due.length; from += AT_ONCE) {
      if (signal.came) throw new Failed(`Stopped: ${count(rescored)} of ${count(due.length)} stones were scored again`)
      rescored += await rescore(tools, due.slice(from, from + AT_ONCE), origin)
      bar.update(Math.min(from + AT_ONCE, due.length))
    }
  } finally {
    bar.end()
    await pool.close()
  }
  return rescored
}
