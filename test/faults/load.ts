import type { Vendor } from '../api/harness/account.ts'
import type { ApiResponse } from '../api/harness/request.ts'
import { list, shown, stone } from '../api/harness/stones.ts'

/** What clients wrote, by sku. */
export type WriteRecord = {
  /** The acknowledged ids. */
  readonly created: Map<string, number>
  /** The last acknowledged price. */
  readonly priced: Map<string, number>
  readonly deleted: Set<string>
  /** Skus of each bulk request, acknowledged or not. */
  readonly bulks: (readonly string[])[]
  /** Number of requests without a response. */
  withoutResponse: number
}

export const newWriteRecord = (): WriteRecord => ({
  created: new Map(),
  priced: new Map(),
  deleted: new Set(),
  bulks: [],
  withoutResponse: 0,
})

const BULK = 20

/** A client that writes until the service does not respond: single and bulk creates, changes and deletions. */
export async function writeUntilDown(ann: Vendor, name: string, record: WriteRecord): Promise<void> {
  try {
    for (let number = 0; ; number++) await writeOnce(ann, `${name}-${number}`, number, record)
  } catch {
    record.withoutResponse++
  }
}

async function writeOnce(ann: Vendor, sku: string, number: number, record: WriteRecord): Promise<void> {
  if (number % 4 === 3) return createBulk(ann, sku, record)
  const { id } = shown(accepted(await ann.post('/v4/diamond', stone({ sku }))))
  record.created.set(sku, id)
  if (number % 4 === 1) {
    accepted(await ann.patch(`/v4/diamond/${id}`, { price: number }))
    record.priced.set(sku, number)
  }
  if (number % 4 === 2) {
    // Until the response arrives, the stone may or may not exist.
    record.created.delete(sku)
    accepted(await ann.remove(`/v3/diamond/${id}`))
    record.deleted.add(sku)
  }
}

async function createBulk(ann: Vendor, sku: string, record: WriteRecord): Promise<void> {
  const skus = Array.from({ length: BULK }, (_, index) => `${sku}/${index}`)
  record.bulks.push(skus)
  const response = accepted(await ann.post('/v4/diamond/bulk', { entries: skus.map((each) => stone({ sku: each })) }))
  for (const { id, sku: each } of list(response)) record.created.set(each, id)
}

function accepted(response: ApiResponse): ApiResponse {
  if (response.status >= 300) throw new Error(`${response.status} ${response.text}`)
  return response
}
