import * as assert from 'uvu/assert'
import type { Vendor } from './account.ts'
import { expect } from './request.ts'
import type { Shown } from './stones.ts'

export type FeedChange = {
  readonly cursor: string
  readonly id: number
  readonly sku: string
  readonly what: readonly string[]
  readonly diamond: Shown | null
}
export type FeedPage = { readonly changes: readonly FeedChange[]; readonly next: string; readonly more: boolean }

/** Reads a page of an account's changes. @param query such as `after=0-1&limit=3` */
export const readChanges = async (vendor: Vendor, query = '', version = 'v4'): Promise<FeedPage> =>
  expect(200, await vendor.get(`/${version}/diamond/changes?${query}`)).json() as FeedPage

/** A consumer that keeps an inventory up to date from the feed alone. */
export class Consumer {
  readonly stones = new Map<number, Shown>()
  cursor: string | undefined

  /** Reads pages until there are no more changes. @param limit changes on a page */
  async catchUp(vendor: Vendor, limit = 100): Promise<void> {
    for (;;) {
      const page = await readChanges(vendor, this.query(limit))
      this.take(page)
      if (!page.more && page.changes.length === 0) return
    }
  }

  query(limit: number): string {
    return `limit=${limit}${this.cursor === undefined ? '' : `&after=${this.cursor}`}`
  }

  take({ changes, next }: FeedPage): void {
    for (const { id, diamond, what } of changes) {
      assert.ok(what.length > 0)
      assert.is(diamond === null, what.includes('deleted'))
      if (diamond === null) this.stones.delete(id)
      else this.stones.set(id, diamond)
    }
    this.cursor = next
  }

  /** Its diamonds by id. */
  get inventory(): Shown[] {
    return [...this.stones.values()].toSorted((a, b) => Number(a.id) - Number(b.id))
  }
}

/** All diamonds that the service lists for a vendor, by id. */
export async function inventoryOf(vendor: Vendor): Promise<Shown[]> {
  const stones: Shown[] = []
  for (let offset = 0; ; offset += 1000) {
    const response = await vendor.get(`/v4/diamond?limit=1000&offset=${offset}`)
    if (response.status === 204) break
    stones.push(...(expect(200, response).json() as Shown[]))
  }
  return stones.toSorted((a, b) => Number(a.id) - Number(b.id))
}
