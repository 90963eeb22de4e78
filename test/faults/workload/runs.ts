import { FAULTS, type FaultName } from './faults.ts'
import { figuresLine } from './figures.ts'
import { overload, overloadLines } from './overload.ts'
import { runWorkload } from './run-workload.ts'
import { soak, memoryLine } from './soak.ts'

/** Options of a run. */
export type RunOptions = { readonly seed: number; readonly seconds?: number; readonly clients?: number }

/** The result of a run as text and as figures. */
export type RunResult = { readonly summary: string; readonly figures: object }

export type Run = { readonly description: string; readonly run: (chosen: RunOptions) => Promise<RunResult> }

const SECONDS = 30
const CLIENTS = 12
const MANY_CLIENTS = 24

/** The faults that need no servers and no small disk, for a run with all of them. */
const OF_ONE_MACHINE = ['kill -9', 'SIGSTOP', 'clock jumps', 'slow disk', 'mail away'] as const

const workload = (description: string, faults: readonly FaultName[]): Run => ({
  description,
  async run({ seed, seconds = SECONDS, clients = CLIENTS }) {
    const figures = await runWorkload({ seed, duration: { seconds }, clients, processes: 2, faults })
    return { summary: figuresLine(figures), figures }
  },
})

const ofEachFault = Object.entries(FAULTS).map(([name, { description }]) => [
  name,
  workload(description, [name as FaultName]),
])

export const RUNS: Readonly<Record<string, Run>> = {
  ...(Object.fromEntries(ofEachFault) as Record<FaultName, Run>),
  together: workload(`in turn: ${OF_ONE_MACHINE.join(', ')}`, OF_ONE_MACHINE),
  overload: {
    description:
      'more concurrent requests from one address than the service accepts, while another address must be served',
    async run() {
      const figures = await overload()
      return { summary: overloadLines(figures), figures }
    },
  },
  soak: {
    description:
      'clients at full speed without faults; checks latency and, from five minutes on, that memory does not grow',
    async run({ seed, seconds = SECONDS, clients = MANY_CLIENTS }) {
      const figures = await soak(seed, clients, seconds)
      return { summary: `${figuresLine(figures)}; ${memoryLine(figures)}`, figures }
    },
  },
}
