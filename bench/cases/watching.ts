import { fileURLToPath } from 'node:url'
import { fill, waitUntilScored } from '../fill.ts'
import type { Bench, Case, CaseGroup, Measurement } from '../group.ts'
import { requestText } from '../request.ts'
import type { Adamant } from '../services/adamant.ts'
import { cpuSeconds } from '../services/service.ts'

/**
 * The cost of logging and metrics for a GET: a service with both against one with neither. Measured as CPU time from
 * the service's own metrics, which hardly depends on other programs on the machine.
 */
export const watching: CaseGroup = { name: 'watching', isLong: true, prepare }

const STONES = 1_000
const withoutMetrics = fileURLToPath(new URL('../services/without-metrics.js', import.meta.url))

async function prepare(bench: Bench): Promise<Case[]> {
  const ours = await cpuTimePerGet(bench, await bench.adamant())
  const baseline = await cpuTimePerGet(
    bench,
    await bench.adamant({ LOG_LEVEL: 'silent', NODE_OPTIONS: `--import=${withoutMetrics}` }),
  )
  return [
    {
      name: 'CPU time of a GET with logging and metrics, against without',
      unit: 'us',
      ours,
      baseline,
      target: { max: 1.3 },
    },
  ]
}

async function cpuTimePerGet(bench: Bench, service: Adamant): Promise<Measurement> {
  const filled = await fill(service, STONES)
  await waitUntilScored(service)
  const requests = filled.map(({ id }) => requestText(service, { method: 'GET', path: `/v4/diamond/${id}` }))
  const { seconds } = bench
  return async () => {
    const before = await cpuSeconds(service)
    const { requests: sent } = await bench.generator.measure({ port: service.port, connections: 20, seconds, requests })
    return (((await cpuSeconds(service)) - before) * 1e6) / sent
  }
}
