import { suite, type Test } from 'uvu'
import { countingRules } from './read-store/counting.ts'
import { queryRules } from './read-store/queries.ts'
import { leasingRules } from './read-store/leasing.ts'
import type { OpenedReadStore } from './read-store/model.ts'
import { progressRules } from './read-store/progress.ts'
import { sequenceRules } from './read-store/sequences.ts'
import { buildRules } from './read-store/builds.ts'
import { scanRules } from './read-store/scanning.ts'
import { writingRules } from './read-store/writing.ts'

/**
 * Runs the rules of the read store port (src/stores/ports/read-store.ts) on an adapter.
 * @param open opens an empty store
 * @param runs number of runs of each property; each run opens a store
 */
export function readStoreContract(
  name: string,
  open: () => Promise<OpenedReadStore>,
  runs = process.env['ADAMANT_FULL'] === '1' ? 200 : 20,
): void {
  const of = (subject: string, rules: (test: Test) => void) => {
    const test = suite(`read store (${name}), ${subject}:`)
    rules(test)
    test.run()
  }
  of('writes', (test) => writingRules(test, open))
  of('counts', (test) => countingRules(test, open, runs))
  of('sequences', (test) => sequenceRules(test, open))
  of('progress', (test) => progressRules(test, open))
  of('queries', (test) => queryRules(test, open, runs))
  of('scans', (test) => scanRules(test, open))
  of('builds', (test) => buildRules(test, open))
  of('leases', (test) => leasingRules(test, open))
}
