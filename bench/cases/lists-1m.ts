import { fill, scored, type Filled } from '../fill.ts'
import type { Bench, Case, Group } from '../group.ts'
import { rateOf } from '../rate.ts'
import type { Service } from '../services/service.ts'
import type { Stone } from '../stones.ts'

const LARGE = 1_000_000
const SMALL = 10_000
const LATEST = 1000

/** The cost of one owner's first page with the total, among 1,000,000 stones and among 10,000. */
export const listsOfAMillion: Group = { name: 'lists-1m', long: true, prepare }

/**
 * An inventory created in three parts, at least a second apart. `half` is the start of the second part, `latest` of the
 * last.
 */
type Inventory = { readonly service: Service; readonly known: Filled; readonly half: string; readonly latest: string }

async function prepare(bench: Bench): Promise<Case[]> {
  const small = await inventory(await bench.adamant(), SMALL)
  const large = await inventory(await bench.adamant(), LARGE)
  const listing = (name: string, most: number | undefined, path: (of: Inventory) => string): Case => ({
    name: `list, ${name}: 1,000,000 against 10,000`,
    unit: 'us',
    ours: costOf(bench, large, path),
    other: costOf(bench, small, path),
    ...(most !== undefined && { target: { most } }),
  })
  return [
    listing('no filter', 1.5, () => '/v4/diamond'),
    listing('isColored', 1.5, () => '/v4/diamond?f[isColored]=1'),
    listing('isPublished', 1.5, () => '/v3/diamond?f[isPublished]=1'),
    listing('id', 1.5, ({ known }) => `/v4/diamond?f[id][]=${known.id}`),
    listing('sku', 1.5, ({ known }) => `/v4/diamond?f[sku][]=${known.sku}`),
    listing('date range of 1,000 stones', 3, ({ latest }) => `/v4/diamond?f[dateFrom]=${latest}`),
    listing('date range of half of the stones', undefined, ({ half }) => `/v4/diamond?f[dateFrom]=${half}`),
  ]
}

function costOf(bench: Bench, of: Inventory, path: (of: Inventory) => string): () => Promise<number> {
  const rate = rateOf(bench, of.service, 20, [{ method: 'GET', path: path(of) }])
  return async () => 1_000_000 / (await rate())
}

async function inventory(service: Service, size: number): Promise<Inventory> {
  await part(service, size / 2)
  const half = await nextSecond()
  await part(service, size / 2 - LATEST)
  const latest = await nextSecond()
  const [known] = await part(service, LATEST)
  if (known === undefined) throw new Error('nothing was filled in')
  await scored(service)
  return { service, known, half, latest }
}

/** Publishes every tenth stone, which is only possible through v3. */
async function part(service: Service, size: number): Promise<Filled[]> {
  const published = size / 10
  await fill(service, published, 'v3', asPublished)
  return fill(service, size - published)
}

const asPublished = ({ sku, price, isColored, carat }: Stone): Stone => {
  const isPublished = true
  return { sku, price, isColored, isPublished, cutShape: 2, carat }
}

/** Waits for the next second and returns it, so that it separates the parts. */
async function nextSecond(): Promise<string> {
  await new Promise((done) => setTimeout(done, 1100))
  return `${new Date().toISOString().slice(0, 19)}Z`
}
