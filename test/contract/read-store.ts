import { suite, type Test } from 'uvu'
import { countingRules } from './read-store/counting.ts'
import { findingRules } from './read-store/finding.ts'
import { leasingRules } from './read-store/leasing.ts'
import type { Opened } from './read-store/model.ts'
import { progressRules } from './read-store/progress.ts'
import { sequenceRules } from './read-store/sequences.ts'
import { switchingRules } from './read-store/switching.ts'
import { walkingRules } from './read-store/walking.ts'
import { writingRules } from './read-store/writing.ts'

/**
 * Runs the rules of the read store port (src/stores/ports/read-store.ts) on an adapter.
 * @param open opens an empty store
 * @param runs number of runs of each property; each run opens a store
 */
export function readStoreContract(
  name: string,
  open: () => Promise<Opened>,
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
  of('queries', (test) => findingRules(test, open, runs))
  of('scans', (test) => walkingRules(test, open))
  of('builds', (test) => switchingRules(test, open))
  of('leases', (test) => leasingRules(test, open))
}
