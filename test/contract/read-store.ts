import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Checkpoint, Document, ModelDeclaration, ReadStore, Write } from '../../src/stores/read-store.ts'

/** The model of diamonds as the service declares it: the contract holds for it on every adapter. */
export const diamonds: ModelDeclaration = {
  name: 'diamonds',
  version: 1,
  fields: {
    id: 'integer',
    owner: 'integer',
    date: 'integer',
    sku: 'text',
    isColored: 'integer',
    isPublished: 'integer',
  },
  texts: ['state', 'v3', 'v4'],
  indexes: [
    ['owner', 'date', 'id'],
    ['owner', 'sku', 'date', 'id'],
    ['owner', 'isColored', 'date', 'id'],
    ['owner', 'isPublished', 'date', 'id'],
    ['owner', 'isColored', 'isPublished', 'date', 'id'],
  ],
  counts: ['owner', 'isColored', 'isPublished'],
}

/** A diamond's document; what a test does not care about has a value anyway. */
export const diamond = (id: number, values: Readonly<Record<string, number | string>> = {}): Document => ({
  id,
  owner: 1,
  date: 1000 + id,
  sku: `SKU-${id}`,
  isColored: 0,
  isPublished: 0,
  state: `state of ${id}`,
  v3: `v3 of ${id}`,
  v4: `v4 of ${id}`,
  ...values,
})

export const put = (document: Document, revision = 0n): Write => ({ put: document, revision })

/** A place in the log of the tests: the `n`-th event. */
export const at = (n: number): Checkpoint => ({
  position: { commit: BigInt(n), prepare: BigInt(n) },
  log: 'log-1',
  event: { id: `event-${n}`, position: { commit: BigInt(n), prepare: BigInt(n) } },
})

export type Opened = { readonly store: ReadStore; readonly close: () => Promise<void> }

/** The rules of the read-store port. `open` gives an empty store; `close` closes it and removes what it kept. */
export function readStoreContract(name: string, open: () => Promise<Opened>): void {
  const test = suite(`a read store (${name})`)

  test('answers with what was written, and with how far it was', async () => {
    const { store, close } = await open()
    const build = await store.live(diamonds)
    await build.write([put(diamond(1))], at(7))
    const model = await store.model(diamonds)
    assert.equal(await model.get(1, ['v4']), { v4: 'v4 of 1' })
    assert.equal(await model.count({ owner: 1 }), 1)
    assert.equal(await model.position(), at(7).position)
    assert.equal(await build.checkpoint(), at(7))
    await close()
  })

  test.run()
}
