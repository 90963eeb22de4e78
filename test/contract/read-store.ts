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
 * The rules of the read-store port (src/stores/ports/read-store.ts).
 * @param open gives an empty store
 * @param runs of each property; each opens a store, which waits for the disk
 */
export function readStoreContract(
  name: string,
  open: () => Promise<Opened>,
  runs = process.env['ADAMANT_FULL'] === '1' ? 200 : 20,
): void {
  const of = (subject: string, rules: (test: Test) => void) => {
    const test = suite(`a read store (${name}), ${subject}`)
    rules(test)
    test.run()
  }
  of('writing', (test) => writingRules(test, open))
  of('counting', (test) => countingRules(test, open, runs))
  of('sequences', (test) => sequenceRules(test, open))
  of('progress', (test) => progressRules(test, open))
  of('finding', (test) => findingRules(test, open, runs))
  of('walking', (test) => walkingRules(test, open))
  of('switching', (test) => switchingRules(test, open))
  of('leasing', (test) => leasingRules(test, open))
}
