import { createHash, randomUUID } from 'node:crypto'
import type { DiamondCreated } from '../domain/diamond/diamond.ts'
import { Refusal } from '../domain/refusal.ts'
import { KEY_LIFE, type RequestDone } from '../domain/request.ts'
import { WrongRevision, type Revision, type StoredEvent } from '../stores/event-store.ts'
import { decode } from '../stores/schemas/decode.ts'
import { appendAll } from './append-all.ts'
import type { Births, CreateDiamonds, CreatedDiamonds } from './create-diamonds.ts'
import { diamondStream } from '../domain/diamond/streams.ts'
import type { Inventory } from './inventory.ts'
import { metadata } from './origin.ts'

/** An Idempotency-Key is a caller's name for one request: it counts per account, method and path. */
export type RequestKey = {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/**
 * Creates what is wanted together with the record that it was done, in one append: a repeat finds the record and gives
 * the first answer, one that comes meanwhile waits for it. A request that is refused leaves no record.
 */
export function answerOnce(
  inventory: Inventory,
  wish: CreateDiamonds,
  request: RequestKey,
  make: () => Promise<Births>,
): Promise<CreatedDiamonds> {
  const stream = requestStream(wish.owner, request)
  const body = digestOf(request.body)
  return inventory.queue.run(stream, async () => {
    for (;;) {
      const [last] = await inventory.store.read(stream, { last: 1 })
      if (last !== undefined && isKept(last, inventory.clock())) return firstAnswer(inventory, last, body)
      const done = await createWithRecord(inventory, wish, { stream, expected: last?.revision ?? 'none', body }, make)
      if (done !== undefined) return done
    }
  })
}

type Record = { readonly stream: string; readonly expected: Revision; readonly body: string }

/** @returns undefined when another process wrote a record first */
async function createWithRecord(
  { store, clock }: Inventory,
  { origin }: CreateDiamonds,
  { stream, expected, body }: Record,
  make: () => Promise<Births>,
): Promise<CreatedDiamonds | undefined> {
  const { created, appends } = await make()
  const data: RequestDone['data'] = { body, diamonds: created.map((event) => event.data.id) }
  const done = { id: randomUUID(), type: 'RequestDone', data, metadata: metadata(origin, clock()) }
  try {
    return { created, position: await appendAll(store, [...appends, { stream, expected, events: [done] }]) }
  } catch (error) {
    if (error instanceof WrongRevision && error.stream === stream) return undefined
    throw error
  }
}

async function firstAnswer({ store }: Inventory, record: StoredEvent, body: string): Promise<CreatedDiamonds> {
  const { data } = decode<RequestDone>(record)
  if (data.body !== body) {
    throw new Refusal('invalid', 'This Idempotency-Key was used for another body; take a new key for a new request')
  }
  const created: DiamondCreated[] = []
  for (const id of data.diamonds) {
    const [birth] = await store.read(diamondStream(id))
    if (birth !== undefined) created.push(decode<DiamondCreated>(birth))
  }
  return { created, position: record.position }
}

const isKept = ({ metadata }: StoredEvent, now: number) => now - Date.parse(metadata['at'] ?? '') < KEY_LIFE

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const requestStream = (owner: number, { method, path, key }: RequestKey) =>
  `request-${sha256(JSON.stringify([owner, method, path, key]))}`

const digestOf = (body: unknown) => sha256(JSON.stringify(sorted(body)))

/** Parsed bodies are compared: the order of members and white space don't count. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, sorted(member)]),
  )
}
