import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  ConcurrencyConflict,
  type ReadModelBuild,
  type StoredDocument,
  type DocumentWrite,
} from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, put, using, type OpenedReadStore } from './model.ts'

const sequence = (id: number, state: string, revision: bigint, basedOn?: StoredDocument): DocumentWrite => ({
  put: { id, state },
  revision,
  ...(basedOn !== undefined && { basedOn }),
})

const inOrder = (found: readonly StoredDocument[]) =>
  found.toSorted((a, b) => Number(a.document['id']) - Number(b.document['id']))

async function scanned({ sequences }: ReadModelBuild): Promise<StoredDocument[]> {
  const found: StoredDocument[] = []
  for await (const page of sequences.scan()) found.push(...page)
  return found
}

export function sequenceRules(test: Test, open: () => Promise<OpenedReadStore>): void {
  test(
    'sequences are stored in a separate table, written together with documents and readable through the model',
    using(open, async ({ store, openAnother, changesVisible }) => {
      const build = await store.live(diamonds)
      assert.equal(await build.sequences.load([0, 1]), [])
      await build.write([put(diamond(1), 1n)], at(1), [], [sequence(0, 'epochs', 1n), sequence(1, 'one', 1n)])
      await build.write([], at(2), [], [sequence(1, 'two', 2n)])
      const stored = [
        { document: { id: 0, state: 'epochs' }, revision: 1n },
        { document: { id: 1, state: 'two' }, revision: 2n },
      ]
      assert.equal(inOrder(await build.sequences.load([1, 0, 7])), stored)
      assert.equal(inOrder(await scanned(build)), stored)
      assert.equal((await build.load([0, 1])).length, 1, 'documents and sequences have separate ids')
      await changesVisible()
      const model = await (await openAnother()).model(diamonds)
      const found = await model.sequences([0, 1, 7])
      assert.equal(
        found.toSorted((a, b) => Number(a['id']) - Number(b['id'])),
        stored.map(({ document }) => document),
      )
    }),
  )

  test(
    'a sequence keeps its newest state and rejects a write based on an outdated one',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([], at(1), [], [sequence(1, 'one', 1n)])
      const [loaded] = await build.sequences.load([1])
      await build.write([], at(3), [], [sequence(1, 'three', 3n, loaded)])
      await build.write([], at(3), [], [sequence(1, 'two', 2n, loaded)])
      assert.equal((await build.sequences.load([1]))[0]?.document['state'], 'three')
      const error = await build
        .write([], at(4), [], [sequence(1, 'four', 4n, loaded)])
        .catch((thrown: unknown) => thrown)
      assert.instance(error, ConcurrencyConflict)
      assert.equal((await build.sequences.load([1], 'acknowledged'))[0]?.document['state'], 'three')
    }),
  )

  test(
    'sequences in a batch before the checkpoint change nothing',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([], at(5), [], [sequence(1, 'five', 5n)])
      await build.write([], at(4), [], [sequence(1, 'late', 6n), sequence(2, 'late', 4n)])
      assert.equal(await scanned(build), [{ document: { id: 1, state: 'five' }, revision: 5n }])
    }),
  )

  test(
    'sequences belong to their build',
    using(open, async ({ store }) => {
      await (await store.live(diamonds)).write([], at(1), [], [sequence(1, 'live', 1n)])
      const next = await store.begin(diamonds)
      assert.equal(await scanned(next), [])
      await next.write([], at(1), [], [sequence(1, 'next', 1n)])
      const model = await store.model(diamonds)
      assert.equal(await model.sequences([1]), [{ id: 1, state: 'live' }])
      await store.promote(diamonds, next)
      assert.equal(await model.sequences([1]), [{ id: 1, state: 'next' }])
    }),
  )
}
