import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReadModelBuild, StoredDocument } from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, put, remove, using, type Opened } from './model.ts'

/** More than two pages of any adapter. */
const MANY = 1_203

const everyId = Array.from({ length: MANY }, (_, index) => index + 1)

async function walked(build: ReadModelBuild, texts?: readonly string[]): Promise<StoredDocument[]> {
  const found: StoredDocument[] = []
  for await (const page of build.scan(texts)) found.push(...page)
  return found
}

const idsOf = (found: readonly StoredDocument[]) => found.map(({ document }) => Number(document['id']))

export function walkingRules(test: Test, open: () => Promise<Opened>): void {
  test(
    'a walk gives every document once, whole, with its revision, and none that was removed',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      assert.equal(await walked(build), [])
      await build.write([put(diamond(1), 1n), put(diamond(2), 1n), put(diamond(3), 1n)], at(1))
      await build.write([remove(2, 2n), put(diamond(3, { sku: 'CHANGED' }), 2n)], at(2))
      assert.equal(await walked(build), await build.load([1, 3]))
      const [first] = await walked(build, ['v4'])
      assert.equal(Object.keys(first?.document ?? {}).toSorted(), [...Object.keys(diamonds.fields), 'v4'].toSorted())
    }),
  )

  test(
    'a walk in many pages meets each of them once, while others come and go',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write(
        everyId.map((id) => put(diamond(id), 1n)),
        at(1),
      )
      const met: number[] = []
      for await (const page of build.scan([])) {
        if (met.length === 0) await build.write([remove(MANY, 2n), put(diamond(MANY + 1), 2n)], at(2))
        met.push(...idsOf(page))
      }
      assert.equal(
        met.filter((id) => id < MANY).toSorted((a, b) => a - b),
        everyId.filter((id) => id < MANY),
      )
      assert.is(new Set(met).size, met.length)
    }),
  )

  test(
    'a walk of another build than the live one stays in that build',
    using(open, async ({ store }) => {
      await (await store.live(diamonds)).write([put(diamond(1), 1n)], at(1))
      const beside = await store.begin(diamonds)
      await beside.write([put(diamond(2), 1n)], at(1))
      assert.equal(idsOf(await walked(beside)), [2])
      assert.equal(idsOf(await walked(await store.live(diamonds))), [1])
    }),
  )
}
