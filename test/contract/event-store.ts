import { suite } from 'uvu'
import type { EventStore } from '../../src/stores/ports/event-store.ts'
import { appendingRules } from './event-store/appending.ts'
import { appendManyRules } from './event-store/append-many.ts'
import { fencingRules } from './event-store/fencing.ts'
import { closingRules } from './event-store/closing.ts'
import { faultRules } from './event-store/faults.ts'
import { readingRules } from './event-store/reading.ts'
import { sequenceRules } from './event-store/sequences.ts'
import { subscribingRules } from './event-store/subscribing.ts'
import type { Given, Rules } from './event-store/given.ts'

export type Capabilities = {
  /** Whether `appendMany` is one transaction: if one append fails, none is stored. */
  readonly atomicMany: boolean
}

/**
 * Runs the rules of the event store port (src/stores/ports/event-store.ts) on an adapter. The log may contain other events,
 * as on a shared server: each rule uses new streams.
 * @param open opens the adapter for one rule, which closes it
 */
export function eventStoreContract(name: string, open: () => Promise<EventStore>, capabilities: Capabilities): void {
  const rules: Rules[] = [
    appendingRules,
    readingRules,
    subscribingRules,
    faultRules,
    fencingRules,
    closingRules,
    sequenceRules,
  ]
  if (capabilities.atomicMany) rules.push(appendManyRules)
  for (const register of rules) {
    const test = suite<Given>(name)
    test.before.each(async (given) => {
      given.store = await open()
    })
    test.after.each(({ store }) => store.close())
    register(test)
    test.run()
  }
}
