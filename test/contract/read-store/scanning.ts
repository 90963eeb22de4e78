import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReadModelBuild, StoredDocument } from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, put, remove, using, type OpenedReadStore } from './model.ts'

/** More than two pages of any adapter. */
const MANY = 1_203

const everyId = Array.from({ length: MANY }, (_, index) => index + 1)

async function scanned(build: ReadModelBuild, texts?: readonly string[]): Promise<StoredDocument[]> {
  const found: StoredDocument[] = []
  for await (const page of build.scan(texts)) found.push(...page)
  return found
}

const idsOf = (found: readonly StoredDocument[]) => found.map(({ document }) => Number(document['id']))

export function scanRules(test: Test, open: () => Promise<OpenedReadStore>): void {
  test(
    'a scan returns every document once, complete and with its revision, without removed ones',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      assert.equal(await scanned(build), [])
      await build.write([put(diamond(1), 1n), put(diamond(2), 1n), put(diamond(3), 1n)], at(1))
      await build.write([remove(2, 2n), put(diamond(3, { sku: 'CHANGED' }), 2n)], at(2))
      assert.equal(await scanned(build), await build.load([1, 3]))
      const [first] = await scanned(build, ['v4'])
      assert.equal(Object.keys(first?.document ?? {}).toSorted(), [...Object.keys(diamonds.fields), 'v4'].toSorted())
    }),
  )

  test(
    'a scan of many pages returns each document once while others are added and removed',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write(
        everyId.map((id) => put(diamond(id), 1n)),
        at(1),
      )
      const seen: number[] = []
      for await (const page of build.scan([])) {
        if (seen.length === 0) await build.write([remove(MANY, 2n), put(diamond(MANY + 1), 2n)], at(2))
        seen.push(...idsOf(page))
      }
      assert.equal(
        seen.filter((id) => id < MANY).toSorted((a, b) => a - b),
        everyId.filter((id) => id < MANY),
      )
      assert.is(new Set(seen).size, seen.length)
    }),
  )

  test(
    'a scan of a build that is not live stays in that build',
    using(open, async ({ store }) => {
      await (await store.live(diamonds)).write([put(diamond(1), 1n)], at(1))
      const next = await store.begin(diamonds)
      await next.write([put(diamond(2), 1n)], at(1))
      assert.equal(idsOf(await scanned(next)), [2])
      assert.equal(idsOf(await scanned(await store.live(diamonds))), [1])
    }),
  )
}
