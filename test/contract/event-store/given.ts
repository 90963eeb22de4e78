import { randomUUID } from 'node:crypto'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type {
  SubscriptionBatch,
  EventStore,
  NewEvent,
  StoredEvent,
  Subscription,
} from '../../../src/stores/ports/event-store.ts'
import { waitFor } from '../../until.ts'

export type Given = { store: EventStore }
export type Rules = (test: Test<Given>) => void

/** A stream name that no other rule and no earlier run on the same server uses. */
export const newStream = (category = 'rule'): string => `${category}-${randomUUID()}`

export const metadata = {
  actor: 'a-1',
  via: 'http',
  $correlationId: 'r-1',
  schema: '1',
  at: '2026-01-02T03:04:05.678Z',
}

export const event = (number = 0): NewEvent => ({ id: randomUUID(), type: 'Counted', data: { number }, metadata })

export const events = (count: number): NewEvent[] => Array.from({ length: count }, (_, number) => event(number))

export const numbers = (stored: readonly StoredEvent[]): unknown[] => stored.map(({ data }) => data['number'])

export const ids = (stored: readonly { readonly id: string }[]): string[] => stored.map(({ id }) => id)

/** Reads batches until `isEnough` returns true for those read so far, then stops the subscription. */
export async function take(
  subscription: Subscription,
  isEnough: (batches: SubscriptionBatch[]) => boolean,
): Promise<SubscriptionBatch[]> {
  const batches: SubscriptionBatch[] = []
  const reading = async () => {
    for await (const batch of subscription) {
      batches.push(batch)
      if (isEnough(batches)) subscription.stop()
    }
    return batches
  }
  return waitFor('enough batches', reading())
}

export const flat = (batches: readonly SubscriptionBatch[]): StoredEvent[] => batches.flatMap((batch) => batch.events)

export const takeEvents = async (subscription: Subscription, count: number): Promise<StoredEvent[]> =>
  flat(await take(subscription, (batches) => flat(batches).length >= count))

export async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const list: Value[] = []
  for await (const value of values) list.push(value)
  return list
}

export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.unreachable('it was not rejected')
}

/** Asserts that the promise is rejected with an error of this class. @returns the error */
export async function rejectedWith<Fault extends Error>(
  kind: new (...parameters: never[]) => Fault,
  promise: Promise<unknown>,
): Promise<Fault> {
  const error = await rejection(promise)
  if (error instanceof kind) return error
  throw new Error(`rejected with ${String(error)}, not with ${kind.name}`, { cause: error })
}
