import { percentile } from '../../../bench/load/probe.ts'
import type { Figures } from './figures.ts'
import { runWorkload } from './run-workload.ts'

/** Seconds from which on the memory of a service is that of its work: caches are filled, code is compiled. */
const WARM = 60
/** Seconds at the end whose median is what the service has come to: single looks go up and down with the collector. */
const AT_END = 30
/** Seconds from which on a run says anything about memory that grows. */
const LONG = 300

const MOST_GROWTH = 1.1
const MOST_SPREAD = 10

export type SoakFigures = Figures & {
  /** Bytes that all processes have together: behind the first minute, at the end, and most. */
  readonly memory: { readonly warm: number; readonly end: number; readonly most: number }
}

/**
 * Many clients for a long time, and nothing that goes wrong.
 * @throws Error where anything was refused that no client had asked for, where some creates take much longer than others,
 *   or where memory grows
 */
export async function soak(seed: number, clients: number, seconds: number): Promise<SoakFigures> {
  const looks: { at: number; bytes: number }[] = []
  const figures = await runWorkload({
    seed,
    clients,
    lasts: { seconds },
    processes: 1,
    faults: [],
    watch: (processes, at) => void looks.push({ at, bytes: processes.memory() }),
  })
  const warmFrom = Math.min(WARM, seconds / 3)
  const between = (from: number, to: number) =>
    percentile(
      looks.flatMap(({ at, bytes }) => (at >= from && at <= to ? bytes : [])),
      0.5,
    )
  const memory = {
    warm: between(warmFrom, warmFrom + AT_END),
    end: between(seconds - AT_END, Infinity),
    most: percentile(
      looks.map(({ bytes }) => bytes),
      1,
    ),
  }
  const faults = faultsOf({ ...figures, memory })
  if (faults.length > 0) throw new Error(`${faults.join('; ')}\n  ${toldSoak({ ...figures, memory })}`)
  return { ...figures, memory }
}

function faultsOf({ lost, refusals, creates, memory, seconds }: SoakFigures): string[] {
  const shed = (refusals['429'] ?? 0) + (refusals['503'] ?? 0)
  return [
    ...(lost > 0 ? [`${lost} answers were lost`] : []),
    ...(shed > 0 ? [`${shed} requests were shed`] : []),
    ...(creates.p99 >= MOST_SPREAD * creates.median
      ? ['the slowest creates take over ten times as long as others']
      : []),
    ...(seconds >= LONG && memory.end > MOST_GROWTH * memory.warm ? ['memory grows'] : []),
  ]
}

const mib = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(0)} MiB`

export const toldSoak = ({ memory }: Pick<SoakFigures, 'memory'>): string =>
  `resident memory ${mib(memory.warm)} when warm, ${mib(memory.end)} at the end, at most ${mib(memory.most)}`
