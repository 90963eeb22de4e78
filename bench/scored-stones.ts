import { randomUUID } from 'node:crypto'
import type { EventStore, NewEvent } from '../src/stores/ports/event-store.ts'

/** Stones per append. */
const BATCH_SIZE = 500

/**
 * Appends stones and their scores directly to the log, two events per stone, in bulks of 500 as the service does.
 * @param first id; must be greater than all ids that a running service allocates
 */
export async function appendStones(store: EventStore, count: number, owner = 7, firstId = 1): Promise<void> {
  for (let done = 0; done < count; done += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, count - done)
    const ids = Array.from({ length }, (_, index) => firstId + done + index)
    await store.appendMany(ids.map((id) => toNewStream(`diamond-${id}`, diamondCreated(id, owner))))
    await store.appendMany(ids.map((id) => toNewStream(`scores-${id}`, diamondScored(id))))
  }
}

const toNewStream = (stream: string, event: NewEvent) => ({ stream, expected: 'none' as const, events: [event] })

const metadata = {
  actor: 'account-7',
  via: 'http',
  $correlationId: randomUUID(),
  schema: '1',
  at: new Date().toISOString(),
}

function diamondCreated(id: number, owner: number): NewEvent {
  const set = { sku: `BENCH-${id}`, cutShape: 2, carat: 0.73, price: 4200, clarity: 6, color: 18, culetSize: 'N' }
  const data = { id, owner, date: 1_795_287_363 + id, set: { ...set, girdle: 'Thin-Medium', access: 1 } }
  return { id: randomUUID(), type: 'DiamondCreated', data, metadata }
}

function diamondScored(id: number): NewEvent {
  const ver = '1.0.0+3af0ed2d'
  const scores = {
    integral: { val: 0.92, rg: 0.99, d: 0.05, ver },
    spread: { ct: -0.03, pc: -3.8, d: 2.5, ver },
    fire: { val: 0.71, rg: 1.01, d: 0.1, ver },
    brilliance: { val: 0.98, rg: 0.98, d: 0.02, faceup: 0.99, avg: 0.98, ver },
    fluor: null,
    symmetry: { val: 8, pav: 8, crown: 8, d: 0.6, ver },
  }
  return { id: randomUUID(), type: 'DiamondScored', data: { id, revision: 0, scores }, metadata }
}
