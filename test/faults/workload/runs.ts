import { FAULTS, type FaultName } from './faults.ts'
import { toldFigures } from './figures.ts'
import { overload, toldOverload } from './overload.ts'
import { runWorkload } from './run-workload.ts'
import { soak, toldSoak } from './soak.ts'

/** What whoever starts a run chooses. */
export type Chosen = { readonly seed: number; readonly seconds?: number; readonly clients?: number }

/** What a run was like, in a line and in figures. */
export type Told = { readonly told: string; readonly figures: object }

export type Run = { readonly about: string; readonly run: (chosen: Chosen) => Promise<Told> }

const SECONDS = 30
const CLIENTS = 12
const MANY_CLIENTS = 24

/** Faults of one machine, which happen to every installation in a folder; all of them, in one run. */
const OF_ONE_MACHINE = ['kill -9', 'SIGSTOP', 'clock jumps', 'slow disk', 'mail away'] as const

const workload = (about: string, faults: readonly FaultName[]): Run => ({
  about,
  async run({ seed, seconds = SECONDS, clients = CLIENTS }) {
    const figures = await runWorkload({ seed, lasts: { seconds }, clients, processes: 2, faults })
    return { told: toldFigures(figures), figures }
  },
})

const ofEachFault = Object.entries(FAULTS).map(([name, { about }]) => [name, workload(about, [name as FaultName])])

export const RUNS: Readonly<Record<string, Run>> = {
  ...(Object.fromEntries(ofEachFault) as Record<FaultName, Run>),
  together: workload(`in turn: ${OF_ONE_MACHINE.join(', ')}`, OF_ONE_MACHINE),
  overload: {
    about: 'more at once than the service takes, from one address, while others come from another',
    async run() {
      const figures = await overload()
      return { told: toldOverload(figures), figures }
    },
  },
  soak: {
    about: 'clients at full speed and no fault: latencies and memory; over five minutes memory must not grow',
    async run({ seed, seconds = SECONDS, clients = MANY_CLIENTS }) {
      const figures = await soak(seed, clients, seconds)
      return { told: `${toldFigures(figures)}; ${toldSoak(figures)}`, figures }
    },
  },
}
