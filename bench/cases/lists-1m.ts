import { fill, waitUntilScored, type CreatedStone } from '../fill.ts'
import type { Bench, Case, CaseGroup } from '../group.ts'
import { measureRate } from '../rate.ts'
import type { MeasuredService } from '../services/service.ts'
import type { StoneJson } from '../stones.ts'

const LARGE = 1_000_000
const SMALL = 10_000
const LATEST_STONES = 1000

/** The cost of one owner's first page with the total, among 1,000,000 stones and among 10,000. */
export const listsOfAMillion: CaseGroup = { name: 'lists-1m', isLong: true, prepare }

/**
 * An inventory created in three parts, at least a second apart. `half` is the start of the second part, `latest` of the
 * last.
 */
type DatedInventory = {
  readonly service: MeasuredService
  readonly sample: CreatedStone
  readonly half: string
  readonly latest: string
}

async function prepare(bench: Bench): Promise<Case[]> {
  const small = await createInventory(await bench.adamant(), SMALL)
  const large = await createInventory(await bench.adamant(), LARGE)
  const caseFor = (name: string, max: number | undefined, path: (of: DatedInventory) => string): Case => ({
    name: `list, ${name}: 1,000,000 against 10,000`,
    unit: 'us',
    ours: requestCost(bench, large, path),
    baseline: requestCost(bench, small, path),
    ...(max !== undefined && { target: { max } }),
  })
  return [
    caseFor('no filter', 1.5, () => '/v4/diamond'),
    caseFor('isColored', 1.5, () => '/v4/diamond?f[isColored]=1'),
    caseFor('isPublished', 1.5, () => '/v3/diamond?f[isPublished]=1'),
    caseFor('id', 1.5, ({ sample }) => `/v4/diamond?f[id][]=${sample.id}`),
    caseFor('sku', 1.5, ({ sample }) => `/v4/diamond?f[sku][]=${sample.sku}`),
    caseFor('date range of 1,000 stones', 3, ({ latest }) => `/v4/diamond?f[dateFrom]=${latest}`),
    caseFor('date range of half of the stones', undefined, ({ half }) => `/v4/diamond?f[dateFrom]=${half}`),
  ]
}

function requestCost(
  bench: Bench,
  inventory: DatedInventory,
  path: (inventory: DatedInventory) => string,
): () => Promise<number> {
  const rate = measureRate(bench, inventory.service, 20, [{ method: 'GET', path: path(inventory) }])
  return async () => 1_000_000 / (await rate())
}

async function createInventory(service: MeasuredService, size: number): Promise<DatedInventory> {
  await createPart(service, size / 2)
  const half = await nextSecond()
  await createPart(service, size / 2 - LATEST_STONES)
  const latest = await nextSecond()
  const [sample] = await createPart(service, LATEST_STONES)
  if (sample === undefined) throw new Error('nothing was filled in')
  await waitUntilScored(service)
  return { service, sample, half, latest }
}

/** Publishes every tenth stone, which is only possible through v3. */
async function createPart(service: MeasuredService, size: number): Promise<CreatedStone[]> {
  const published = size / 10
  await fill(service, published, 'v3', toPublished)
  return fill(service, size - published)
}

const toPublished = ({ sku, price, isColored, carat }: StoneJson): StoneJson => {
  const isPublished = true
  return { sku, price, isColored, isPublished, cutShape: 2, carat }
}

/** Waits for the next second and returns it, so that it separates the parts. */
async function nextSecond(): Promise<string> {
  await new Promise((done) => setTimeout(done, 1100))
  return `${new Date().toISOString().slice(0, 19)}Z`
}
