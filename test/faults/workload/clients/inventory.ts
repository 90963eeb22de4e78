import { list, shown, stone, type Shown } from '../../../api/harness/stones.ts'
import type { Answer } from '../../../api/harness/request.ts'
import { pace } from '../../../pace.ts'
import type { SeenStone } from '../history/operation.ts'
import type { Reply } from '../record.ts'
import { RETRY_DELAY, anyUrl, type Client, type KnownStone } from './client.ts'

/** The actions of a vendor's client with their weights. */
const ACTIONS = { create: 24, createByKey: 8, bulk: 4, change: 20, changeIfMatch: 6, remove: 14, read: 16, search: 10 }

const BULK = 12
/** Number of the newest stones that clients use, so that they compete for the same ones. */
const RECENT = 40

/** A client that creates, changes, deletes and reads its own stones and those of others. */
export async function useInventory(client: Client): Promise<void> {
  while (!client.world.isOver()) {
    const { outcome } = await RUN_ACTION[client.choices.weighted(ACTIONS)](client)
    if (outcome === 'unknown') await pace(RETRY_DELAY)
  }
}

const RUN_ACTION: Readonly<Record<keyof typeof ACTIONS, (client: Client) => Promise<Pick<Reply, 'outcome'>>>> = {
  create: (client) => create(client),
  createByKey,
  bulk,
  change: (client) => onStone(client, (known) => change(client, known)),
  changeIfMatch: (client) => onStone(client, (known) => change(client, known, known.etag)),
  remove: (client) => onStone(client, (known) => remove(client, known)),
  read: (client) => onStone(client, (known) => read(client, known)),
  search: (client) => onStone(client, (known) => search(client, known)),
}

const onStone = (client: Client, action: (known: KnownStone) => Promise<Reply>) => {
  const known = client.choices.one(client.world.stones.slice(-RECENT))
  return known === undefined ? create(client) : action(known)
}

const newStone = ({ world }: Client) => {
  const price = world.number()
  return { sku: `W-${price}`, price }
}

/** The revision R of an ETag "R.S". */
const revisionOf = ({ headers }: Answer): Pick<SeenStone, 'revision'> => {
  const found = /^"(\d+)\./.exec(headers.etag ?? '')?.[1]
  return found === undefined ? {} : { revision: Number(found) }
}

export const seenStoneOf = ({ sku, id, price }: Shown): SeenStone => ({ sku, id, price: Number(price) })

async function create(client: Client, key?: string, wanted = newStone(client), first?: Reply): Promise<Reply> {
  const { world, number } = client
  const send = () =>
    world
      .vendorAt(anyUrl(client))
      .post('/v4/diamond', stone(wanted), key === undefined ? {} : { 'Idempotency-Key': key })
  const reply = await world.record.send(number, send)
  if (key !== undefined && reply.outcome === 'unknown' && !world.isOver()) {
    await pace(RETRY_DELAY)
    return create(client, key, wanted, first ?? reply)
  }
  const { answer, ...result } = reply
  const sights = answer !== undefined && result.outcome === 'done' ? [seenStoneOf(shown(answer))] : []
  // A request with an idempotency key and an unknown outcome may have been executed by any of its attempts.
  const outcome = first !== undefined && result.outcome === 'refused' ? 'unknown' : result.outcome
  world.record.add({
    ...result,
    outcome,
    began: first?.began ?? result.began,
    kind: 'create',
    wanted: [wanted],
    shown: sights,
  })
  world.stones.push(...sights)
  if (outcome === 'done' && first === undefined) world.record.creates.push(result.ended - result.began)
  return reply
}

async function createByKey(client: Client): Promise<Reply> {
  const wanted = newStone(client)
  return create(client, `key-${wanted.price}`, wanted)
}

async function bulk(client: Client): Promise<Reply> {
  const { world, number } = client
  const wanted = Array.from({ length: BULK }, () => newStone(client))
  const entries = wanted.map(stone)
  const { answer, ...result } = await world.record.send(number, () =>
    world.vendorAt(anyUrl(client)).post('/v4/diamond/bulk', { entries }),
  )
  const sights = answer !== undefined && result.outcome === 'done' ? list(answer).map(seenStoneOf) : []
  world.record.add({ ...result, kind: 'create', wanted, shown: sights })
  world.stones.push(...sights)
  return result
}

async function change(client: Client, known: KnownStone, etag?: string): Promise<Reply> {
  const { world, number } = client
  const price = world.number()
  const headers = etag === undefined ? {} : { 'If-Match': etag }
  const { answer, ...result } = await world.record.send(number, () =>
    world.vendorAt(anyUrl(client)).patch(`/v4/diamond/${known.id}`, { price }, headers),
  )
  const revision = answer !== undefined && result.outcome === 'done' ? revisionOf(answer) : {}
  if (answer?.headers.etag !== undefined) known.etag = answer.headers.etag
  world.record.add({ ...result, kind: 'change', sku: known.sku, price, ...revision })
  return result
}

async function remove(client: Client, known: KnownStone): Promise<Reply> {
  const { world, number } = client
  // Other clients do not use the stone from now on, unless they have already begun to.
  world.stones.splice(world.stones.indexOf(known), 1)
  const { answer: _, ...result } = await world.record.send(number, () =>
    world.vendorAt(anyUrl(client)).remove(`/v4/diamond/${known.id}`),
  )
  world.record.add({ ...result, kind: 'delete', sku: known.sku })
  return result
}

async function read(client: Client, known: KnownStone): Promise<Reply> {
  const { world, choices } = client
  return readOnce(client, known, anyUrl(client), choices.one(['v3', 'v4']), world.stones.includes(known))
}

/** @param keepsTag whether the stone's ETag is shared with all clients */
export async function readOnce(
  { world, number }: Pick<Client, 'world' | 'number'>,
  known: KnownStone,
  url: string,
  version: string,
  keepsTag = false,
): Promise<Reply> {
  const { answer, ...result } = await world.record.send(number, () =>
    world.vendorAt(url).get(`/${version}/diamond/${known.id}`),
  )
  const seen = answer !== undefined && answer.status === 200 && { ...seenStoneOf(shown(answer)), ...revisionOf(answer) }
  if (keepsTag && answer?.headers.etag !== undefined) known.etag = answer.headers.etag
  world.record.add({ ...result, kind: 'read', sku: known.sku, ...(seen && { shown: seen }) })
  return result
}

async function search(client: Client, { sku }: KnownStone): Promise<Reply> {
  const { world, number, choices } = client
  const path = `/${choices.one(['v3', 'v4'])}/diamond?f[sku][]=${sku}`
  const { answer, ...result } = await world.record.send(number, () => world.vendorAt(anyUrl(client)).get(path))
  const isBehind = answer?.headers['x-consistency'] !== undefined
  const sights = answer !== undefined && result.outcome === 'done' ? list(answer).map(seenStoneOf) : []
  const total = Number(answer?.headers['x-total-count'] ?? 0)
  const outcome = isBehind ? 'unknown' : result.outcome
  world.record.add({ ...result, outcome, kind: 'list', sku, shown: sights, total })
  return result
}
