import { list, shown, stone, type Shown } from '../../../api/harness/stones.ts'
import type { Answer } from '../../../api/harness/request.ts'
import { pace } from '../../../pace.ts'
import type { Sight } from '../history/operation.ts'
import type { Reply } from '../record.ts'
import { AGAIN, anywhere, type Client, type KnownStone } from './client.ts'

/** What a vendor's client does, and how often. */
const ACTIONS = { create: 24, createByKey: 8, bulk: 4, change: 20, changeIfMatch: 6, remove: 14, read: 16, search: 10 }

const BULK = 12
/** Clients meet at the stones that were made last. */
const RECENT = 40

/** A client of the inventory: creates, changes, deletes and looks, of its own stones and of others'. */
export async function useInventory(client: Client): Promise<void> {
  while (!client.world.isOver()) {
    const { outcome } = await DOES[client.choices.weighted(ACTIONS)](client)
    if (outcome === 'unknown') await pace(AGAIN)
  }
}

const DOES: Readonly<Record<keyof typeof ACTIONS, (client: Client) => Promise<Pick<Reply, 'outcome'>>>> = {
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

const wish = ({ world }: Client) => {
  const price = world.number()
  return { sku: `W-${price}`, price }
}

/** R of an ETag "R.S". */
const revisionOf = ({ headers }: Answer): Pick<Sight, 'revision'> => {
  const found = /^"(\d+)\./.exec(headers.etag ?? '')?.[1]
  return found === undefined ? {} : { revision: Number(found) }
}

export const sightOf = ({ sku, id, price }: Shown): Sight => ({ sku, id, price: Number(price) })

async function create(client: Client, key?: string, wanted = wish(client), first?: Reply): Promise<Reply> {
  const { world, number } = client
  const send = () =>
    world
      .vendorAt(anywhere(client))
      .post('/v4/diamond', stone(wanted), key === undefined ? {} : { 'Idempotency-Key': key })
  const reply = await world.record.ask(number, send)
  if (key !== undefined && reply.outcome === 'unknown' && !world.isOver()) {
    await pace(AGAIN)
    return create(client, key, wanted, first ?? reply)
  }
  const { answer, ...told } = reply
  const sights = answer !== undefined && told.outcome === 'done' ? [sightOf(shown(answer))] : []
  // What was asked for by a key and stayed open may have been carried out by any of its tries.
  const outcome = first !== undefined && told.outcome === 'refused' ? 'unknown' : told.outcome
  world.record.keep({
    ...told,
    outcome,
    began: first?.began ?? told.began,
    kind: 'create',
    wanted: [wanted],
    shown: sights,
  })
  world.stones.push(...sights)
  if (outcome === 'done' && first === undefined) world.record.creates.push(told.ended - told.began)
  return reply
}

async function createByKey(client: Client): Promise<Reply> {
  const wanted = wish(client)
  return create(client, `key-${wanted.price}`, wanted)
}

async function bulk(client: Client): Promise<Reply> {
  const { world, number } = client
  const wanted = Array.from({ length: BULK }, () => wish(client))
  const entries = wanted.map(stone)
  const { answer, ...told } = await world.record.ask(number, () =>
    world.vendorAt(anywhere(client)).post('/v4/diamond/bulk', { entries }),
  )
  const sights = answer !== undefined && told.outcome === 'done' ? list(answer).map(sightOf) : []
  world.record.keep({ ...told, kind: 'create', wanted, shown: sights })
  world.stones.push(...sights)
  return told
}

async function change(client: Client, known: KnownStone, etag?: string): Promise<Reply> {
  const { world, number } = client
  const price = world.number()
  const headers = etag === undefined ? {} : { 'If-Match': etag }
  const { answer, ...told } = await world.record.ask(number, () =>
    world.vendorAt(anywhere(client)).patch(`/v4/diamond/${known.id}`, { price }, headers),
  )
  const revision = answer !== undefined && told.outcome === 'done' ? revisionOf(answer) : {}
  if (answer?.headers.etag !== undefined) known.etag = answer.headers.etag
  world.record.keep({ ...told, kind: 'change', sku: known.sku, price, ...revision })
  return told
}

async function remove(client: Client, known: KnownStone): Promise<Reply> {
  const { world, number } = client
  // Nobody else begins anything with it, unless the deletion stays open.
  world.stones.splice(world.stones.indexOf(known), 1)
  const { answer: _, ...told } = await world.record.ask(number, () =>
    world.vendorAt(anywhere(client)).remove(`/v4/diamond/${known.id}`),
  )
  world.record.keep({ ...told, kind: 'delete', sku: known.sku })
  return told
}

async function read(client: Client, known: KnownStone): Promise<Reply> {
  const { world, choices } = client
  return readOnce(client, known, anywhere(client), choices.one(['v3', 'v4']), world.stones.includes(known))
}

/** @param keepsTag whether what is told of the stone's tag is for all clients */
export async function readOnce(
  { world, number }: Pick<Client, 'world' | 'number'>,
  known: KnownStone,
  url: string,
  version: string,
  keepsTag = false,
): Promise<Reply> {
  const { answer, ...told } = await world.record.ask(number, () =>
    world.vendorAt(url).get(`/${version}/diamond/${known.id}`),
  )
  const seen = answer !== undefined && answer.status === 200 && { ...sightOf(shown(answer)), ...revisionOf(answer) }
  if (keepsTag && answer?.headers.etag !== undefined) known.etag = answer.headers.etag
  world.record.keep({ ...told, kind: 'read', sku: known.sku, ...(seen && { shown: seen }) })
  return told
}

async function search(client: Client, { sku }: KnownStone): Promise<Reply> {
  const { world, number, choices } = client
  const path = `/${choices.one(['v3', 'v4'])}/diamond?f[sku][]=${sku}`
  const { answer, ...told } = await world.record.ask(number, () => world.vendorAt(anywhere(client)).get(path))
  const isBehind = answer?.headers['x-consistency'] !== undefined
  const sights = answer !== undefined && told.outcome === 'done' ? list(answer).map(sightOf) : []
  const total = Number(answer?.headers['x-total-count'] ?? 0)
  const outcome = isBehind ? 'unknown' : told.outcome
  world.record.keep({ ...told, outcome, kind: 'list', sku, shown: sights, total })
  return told
}
