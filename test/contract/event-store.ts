import { suite } from 'uvu'
import type { EventStore } from '../../src/stores/ports/event-store.ts'
import { appendingRules } from './event-store/appending.ts'
import { appendManyRules } from './event-store/append-many.ts'
import { closedRules } from './event-store/closed.ts'
import { closingRules } from './event-store/closing.ts'
import { faultRules } from './event-store/faults.ts'
import { readingRules } from './event-store/reading.ts'
import { sequenceRules } from './event-store/sequences.ts'
import { subscribingRules } from './event-store/subscribing.ts'
import type { Given, Rules } from './event-store/given.ts'

export type Capabilities = {
  /** appendMany is one transaction: nothing of it is stored when an append of it fails. */
  readonly atomicMany: boolean
}

/**
 * Registers every rule of the event store port on an adapter, and runs them. The log may hold other events, as a shared
 * server does: the rules use streams of their own.
 * @param open opens the adapter anew for each rule, which closes it
 */
export function eventStoreContract(name: string, open: () => Promise<EventStore>, capabilities: Capabilities): void {
  const rules: Rules[] = [
    appendingRules,
    readingRules,
    subscribingRules,
    faultRules,
    closedRules,
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
