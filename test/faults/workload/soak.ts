import { percentile } from '../../../bench/load/probe.ts'
import type { Figures } from './figures.ts'
import { runWorkload } from './run-workload.ts'

/** Seconds after which a service is warm: its caches are filled and its code is compiled. */
const WARM = 60
/** Seconds over which the median of memory is taken, because single samples vary with garbage collection. */
const AT_END = 30
/** Seconds from which a run is long enough to detect growing memory. */
const LONG = 300

const MAX_MEMORY_GROWTH = 1.1
const MAX_LATENCY_SPREAD = 10

export type SoakFigures = Figures & {
  /** Resident memory of all processes in bytes: when warm, at the end, and the maximum. */
  readonly memory: { readonly warm: number; readonly end: number; readonly most: number }
}

/**
 * Runs many clients for a long time without faults.
 * @throws Error if a response was lost, a request was rejected because of load, some creates are much slower than others, or memory
 *   grows
 */
export async function soak(seed: number, clients: number, seconds: number): Promise<SoakFigures> {
  const samples: { at: number; bytes: number }[] = []
  const figures = await runWorkload({
    seed,
    clients,
    duration: { seconds },
    processes: 1,
    faults: [],
    watch: (processes, at) => void samples.push({ at, bytes: processes.memory() }),
  })
  const warmFrom = Math.min(WARM, seconds / 3)
  const between = (from: number, to: number) =>
    percentile(
      samples.flatMap(({ at, bytes }) => (at >= from && at <= to ? bytes : [])),
      0.5,
    )
  const memory = {
    warm: between(warmFrom, warmFrom + AT_END),
    end: between(seconds - AT_END, Infinity),
    most: percentile(
      samples.map(({ bytes }) => bytes),
      1,
    ),
  }
  const faults = faultsOf({ ...figures, memory })
  if (faults.length > 0) throw new Error(`${faults.join('; ')}\n  ${memoryLine({ ...figures, memory })}`)
  return { ...figures, memory }
}

function faultsOf({ lost, refusals, creates, memory, seconds }: SoakFigures): string[] {
  const shed = (refusals['429'] ?? 0) + (refusals['503'] ?? 0)
  return [
    ...(lost > 0 ? [`${lost} responses were lost`] : []),
    ...(shed > 0 ? [`${shed} requests were rejected because of load`] : []),
    ...(creates.p99 >= MAX_LATENCY_SPREAD * creates.median
      ? ['the 99th percentile of single creates is over ten times their median']
      : []),
    ...(seconds >= LONG && memory.end > MAX_MEMORY_GROWTH * memory.warm ? ['memory grows'] : []),
  ]
}

const mib = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(0)} MiB`

export const memoryLine = ({ memory }: Pick<SoakFigures, 'memory'>): string =>
  `resident memory ${mib(memory.warm)} when warm, ${mib(memory.end)} at the end, at most ${mib(memory.most)}`
