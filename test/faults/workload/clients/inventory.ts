import { list, shown, stone, type Shown } from '../../../api/harness/stones.ts'
import type { ApiResponse } from '../../../api/harness/request.ts'
import { pace } from '../../../pace.ts'
import type { SeenStone } from '../history/operation.ts'
import type { Reply } from '../record.ts'
import { RETRY_DELAY_MS, anyUrl, type Client, type SharedStone } from './client.ts'

/** The actions of a vendor's client with their weights. */
const ACTIONS = { create: 24, createByKey: 8, bulk: 4, change: 20, changeIfMatch: 6, remove: 14, read: 16, search: 10 }

const BULK = 12
/** Number of the newest stones that clients use, so that they compete for the same ones. */
const RECENT = 40

/** A client that creates, changes, deletes and reads its own stones and those of others. */
export async function useInventory(client: Client): Promise<void> {
  while (!client.world.isOver()) {
    const { outcome } = await RUN_ACTION[client.random.pickWeighted(ACTIONS)](client)
    if (outcome === 'unknown') await pace(RETRY_DELAY_MS)
  }
}

const RUN_ACTION: Readonly<Record<keyof typeof ACTIONS, (client: Client) => Promise<Pick<Reply, 'outcome'>>>> = {
  create: (client) => create(client),
  createByKey,
  bulk,
  change: (client) => onStone(client, (target) => change(client, target)),
  changeIfMatch: (client) => onStone(client, (target) => change(client, target, target.etag)),
  remove: (client) => onStone(client, (target) => remove(client, target)),
  read: (client) => onStone(client, (target) => read(client, target)),
  search: (client) => onStone(client, (target) => search(client, target)),
}

const onStone = (client: Client, action: (target: SharedStone) => Promise<Reply>) => {
  const target = client.random.pick(client.world.stones.slice(-RECENT))
  return target === undefined ? create(client) : action(target)
}

const newStone = ({ world }: Client) => {
  const price = world.number()
  return { sku: `W-${price}`, price }
}

/** The revision R of an ETag "R.S". */
const revisionOf = ({ headers }: ApiResponse): Pick<SeenStone, 'revision'> => {
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
    await pace(RETRY_DELAY_MS)
    return create(client, key, wanted, first ?? reply)
  }
  const { response, ...result } = reply
  const seenStones = response !== undefined && result.outcome === 'done' ? [seenStoneOf(shown(response))] : []
  // A request with an idempotency key and an unknown outcome may have been executed by any of its attempts.
  const outcome = first !== undefined && result.outcome === 'refused' ? 'unknown' : result.outcome
  world.record.add({
    ...result,
    outcome,
    startedAt: first?.startedAt ?? result.startedAt,
    kind: 'create',
    wanted: [wanted],
    shown: seenStones,
  })
  world.stones.push(...seenStones)
  if (outcome === 'done' && first === undefined) world.record.creates.push(result.endedAt - result.startedAt)
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
  const { response, ...result } = await world.record.send(number, () =>
    world.vendorAt(anyUrl(client)).post('/v4/diamond/bulk', { entries }),
  )
  const seenStones = response !== undefined && result.outcome === 'done' ? list(response).map(seenStoneOf) : []
  world.record.add({ ...result, kind: 'create', wanted, shown: seenStones })
  world.stones.push(...seenStones)
  return result
}

async function change(client: Client, target: SharedStone, etag?: string): Promise<Reply> {
  const { world, number } = client
  const price = world.number()
  const headers = etag === undefined ? {} : { 'If-Match': etag }
  const { response, ...result } = await world.record.send(number, () =>
    world.vendorAt(anyUrl(client)).patch(`/v4/diamond/${target.id}`, { price }, headers),
  )
  const revision = response !== undefined && result.outcome === 'done' ? revisionOf(response) : {}
  if (response?.headers.etag !== undefined) target.etag = response.headers.etag
  world.record.add({ ...result, kind: 'change', sku: target.sku, price, ...revision })
  return result
}

async function remove(client: Client, target: SharedStone): Promise<Reply> {
  const { world, number } = client
  // Other clients do not use the stone from now on, unless they have already begun to.
  world.stones.splice(world.stones.indexOf(target), 1)
  const { response: _, ...result } = await world.record.send(number, () =>
    world.vendorAt(anyUrl(client)).remove(`/v4/diamond/${target.id}`),
  )
  world.record.add({ ...result, kind: 'delete', sku: target.sku })
  return result
}

async function read(client: Client, target: SharedStone): Promise<Reply> {
  const { world, random } = client
  return readOnce(client, target, anyUrl(client), random.pick(['v3', 'v4']), world.stones.includes(target))
}

/** @param sharesEtag whether the stone's ETag is shared with all clients */
export async function readOnce(
  { world, number }: Pick<Client, 'world' | 'number'>,
  target: SharedStone,
  url: string,
  version: string,
  sharesEtag = false,
): Promise<Reply> {
  const { response, ...result } = await world.record.send(number, () =>
    world.vendorAt(url).get(`/${version}/diamond/${target.id}`),
  )
  const seen = response !== undefined &&
    response.status === 200 && { ...seenStoneOf(shown(response)), ...revisionOf(response) }
  if (sharesEtag && response?.headers.etag !== undefined) target.etag = response.headers.etag
  world.record.add({ ...result, kind: 'read', sku: target.sku, ...(seen && { shown: seen }) })
  return result
}

async function search(client: Client, { sku }: SharedStone): Promise<Reply> {
  const { world, number, random } = client
  const path = `/${random.pick(['v3', 'v4'])}/diamond?f[sku][]=${sku}`
  const { response, ...result } = await world.record.send(number, () => world.vendorAt(anyUrl(client)).get(path))
  const isBehind = response?.headers['x-consistency'] !== undefined
  const seenStones = response !== undefined && result.outcome === 'done' ? list(response).map(seenStoneOf) : []
  const total = Number(response?.headers['x-total-count'] ?? 0)
  const outcome = isBehind ? 'unknown' : result.outcome
  world.record.add({ ...result, outcome, kind: 'list', sku, shown: seenStones, total })
  return result
}
