import type { DiamondCreated } from '../../domain/diamond/diamond.ts'
import { diamondStream } from '../../domain/diamond/streams.ts'
import { Refusal } from '../../domain/refusal.ts'
import { KEY_LIFE, type RequestAccepted, type RequestDone } from '../../domain/bulk/request.ts'
import { WrongRevision, type Revision, type StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
import { carryOut, finishRequest } from './carry-out.ts'
import type { Births, CreateDiamonds, CreatedDiamonds } from '../diamonds/create-diamonds.ts'
import type { Inventory } from '../diamonds/inventory.ts'
import { digestOf, requestStream } from './request-stream.ts'

/** An Idempotency-Key is a caller's name for one request: it counts per account, method and path. */
export type RequestName = { readonly key: string; readonly method: string; readonly path: string }

export type RequestKey = RequestName & {
  /** What was read from the body and is going to be done. */
  readonly body: unknown
}

/**
 * Creates what is wanted together with the record that it was done: a repeat finds the record and gives the first
 * answer, one that comes meanwhile waits for it, and what another process began and did not end is finished first. A
 * request that is refused leaves no record.
 */
export function answerOnce(
  inventory: Inventory,
  wish: CreateDiamonds,
  request: RequestKey,
  make: () => Promise<Births>,
): Promise<CreatedDiamonds> {
  const stream = streamOf(wish.owner, request)
  const body = digestOf(request.body)
  return inventory.queue.run(stream, async () => {
    for (;;) {
      const [last] = await inventory.store.read(stream, { last: 1 })
      const kept = last !== undefined && isKept(last, inventory.clock()) ? last : undefined
      if (kept?.type === 'RequestDone') return firstAnswer(inventory, kept, body)
      if (kept !== undefined) {
        sameBody(decode<RequestAccepted>(kept).data, body)
        if ((await finishRequest(inventory, stream)) !== undefined) continue
      }
      const done = await createWithRecord(inventory, { stream, expected: last?.revision ?? 'none', body }, make)
      if (done !== undefined) return done
    }
  })
}

type Record = { readonly stream: string; readonly expected: Revision; readonly body: string }

/** @returns undefined when another process wrote a record first */
async function createWithRecord(
  inventory: Inventory,
  record: Record,
  make: () => Promise<Births>,
): Promise<CreatedDiamonds | undefined> {
  const { created, appends, metadata } = await make()
  const diamonds = created.map((event) => event.data.id)
  try {
    return { created, position: await carryOut(inventory, { ...record, diamonds, appends, metadata }) }
  } catch (error) {
    if (error instanceof WrongRevision && error.stream === record.stream) return undefined
    throw error
  }
}

async function firstAnswer({ store }: Inventory, record: StoredEvent, body: string): Promise<CreatedDiamonds> {
  const { data } = decode<RequestDone>(record)
  sameBody(data, body)
  const created: DiamondCreated[] = []
  for (const id of data.diamonds) {
    const [birth] = await store.read(diamondStream(id))
    if (birth !== undefined) created.push(decode<DiamondCreated>(birth))
  }
  return { created, position: record.position }
}

/** @throws Refusal invalid for another body */
export function sameBody(record: { readonly body: string }, body: string): void {
  if (record.body === body) return
  throw new Refusal('invalid', 'This Idempotency-Key was used for another body; take a new key for a new request')
}

export const isKept = ({ metadata }: StoredEvent, now: number) => now - Date.parse(metadata['at'] ?? '') < KEY_LIFE

export const streamOf = (owner: number, { method, path, key }: RequestName) => requestStream(owner, method, path, key)
