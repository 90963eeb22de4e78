import { suite } from 'uvu'
import { rounds } from '../../rounds.ts'
import { figuresLine } from './figures.ts'
import { runWorkload } from './run-workload.ts'
import { SEED } from '../../seeded.ts'

const test = suite('two service processes')

/** Number of faults, one after another. */
const FAULT_COUNT = rounds(6, 30)

test('keep all guarantees for concurrent clients during faults', async () => {
  const seed = SEED
  const faults = ['kill -9', 'SIGSTOP', 'clock jumps', 'slow disk'] as const
  const figures = await runWorkload({ seed, clients: 8, processes: 2, duration: { faults: FAULT_COUNT }, faults })
  console.log(`NOTE: seed ${seed}: ${figuresLine(figures)}`)
})

test.run()
