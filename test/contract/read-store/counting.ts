import * as fc from '../../fast-check.ts'
import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  ConcurrencyConflict,
  type ReadModelBuild,
  type ReadStore,
  type StoredDocument,
  type DocumentWrite,
} from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, put, remove, using, type OpenedReadStore } from './model.ts'

export function countingRules(test: Test, open: () => Promise<OpenedReadStore>, runs: number): void {
  test('a batch that is written twice changes nothing the second time', async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        withBatches(open, async (build, store, written) => {
          for (const [index, batch] of written.entries()) {
            await build.write(batch, at(index))
            const once = await everything(store)
            await build.write(batch, at(index))
            assert.equal(await everything(store), once)
          }
        }),
      ),
      { numRuns: runs },
    )
  })

  test('maintained counts equal recounted documents after any writes', async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        withBatches(open, async (build, store, written) => {
          for (const [index, batch] of written.entries()) await build.write(batch, at(index))
          const model = await store.model(diamonds)
          const documents = await everything(store)
          for (const where of countable) {
            const matching = documents.filter((document) => Object.entries(where).every(([k, v]) => document[k] === v))
            assert.is(await model.count(where), matching.length, JSON.stringify(where))
            const counts = await model.counts(where)
            assert.is(sum(counts), matching.length, JSON.stringify(where))
            for (const { values, documents } of counts) {
              const same = matching.filter((one) => diamonds.counts.every((name) => one[name] === values[name]))
              assert.is(documents, same.length, JSON.stringify(values))
            }
            for (const upTo of [0, 1, 2, 100]) {
              const by = ['owner', 'date', 'id']
              assert.is(await model.count(where, { by, upTo }), Math.min(matching.length, upTo + 1))
            }
          }
        }),
      ),
      { numRuns: runs },
    )
  })

  test(
    'counts by a field that is not counted are rejected',
    using(open, async ({ store }) => {
      await store.live(diamonds)
      const model = await store.model(diamonds)
      const error = await Promise.resolve()
        .then(() => model.counts({ owner: 1, sku: 'a' }))
        .catch((thrown: unknown) => thrown)
      assert.ok(error instanceof Error && /not counted by/.test(error.message))
    }),
  )

  test('a batch based on loaded documents has the effect of one without, or is rejected if these are outdated', async () => {
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.infiniteStream(fc.boolean()),
        async (written, isStale) =>
          await withBatches(open, async (build, store, writes) => {
            const plain = await store.live(unconditional)
            let before = new Map<unknown, StoredDocument>()
            for (const [index, batch] of writes.entries()) {
              const now = await loaded(build, batch)
              const known = (write: DocumentWrite) => (isStale.next().value === true ? before : now).get(keyOf(write))
              const based = batch.map((write) => withBase(write, known(write)))
              const isRejected = based.some((write) => isOutdated(write, now.get(keyOf(write))))
              // Not every store keeps the revision of a removed document to compare with.
              const mayBeRejected = based.some((write) => write.basedOn !== undefined && !now.has(keyOf(write)))
              const once = await everything(store)
              const error = await build.write(based, at(index)).catch((thrown: unknown) => thrown)
              if (!mayBeRejected) assert.is(error instanceof ConcurrencyConflict, isRejected, String(error))
              if (error instanceof ConcurrencyConflict) {
                assert.equal(await everything(store), once)
                const retried = batch.map((write) => withBase(write, now.get(keyOf(write))))
                await build.write(retried, at(index))
              }
              await plain.write(batch, at(index))
              before = now
            }
            assert.equal(await everything(store), await everything(store, unconditional))
            for (const where of countable) {
              const [count, expected] = [await store.model(diamonds), await store.model(unconditional)]
              assert.is(await count.count(where), await expected.count(where), JSON.stringify(where))
            }
          })(written),
      ),
      { numRuns: runs },
    )
  })
}

const sum = (counts: readonly { readonly documents: number }[]) =>
  counts.reduce((all, { documents }) => all + documents, 0)

/** A second model, written without `basedOn`. */
const unconditional = { ...diamonds, name: 'plain' }

async function loaded(build: ReadModelBuild, batch: readonly DocumentWrite[]): Promise<Map<unknown, StoredDocument>> {
  const keys = batch.flatMap((write) => keyOf(write) ?? [])
  return new Map((await build.load(keys)).map((stored) => [stored.document['id'], stored]))
}

const withBase = (write: DocumentWrite, basedOn: StoredDocument | undefined): DocumentWrite =>
  basedOn === undefined ? write : { ...write, basedOn }

/** Whether the stored document is another than the one the write is based on, and older than the write. */
const isOutdated = ({ revision, basedOn }: DocumentWrite, now: StoredDocument | undefined) =>
  basedOn !== undefined && now !== undefined && now.revision !== basedOn.revision && now.revision < revision

const flag = fc.integer({ min: 0, max: 1 })
const key = fc.integer({ min: 1, max: 6 })
const revision = fc.bigInt({ min: 0n, max: 6n })
const written: fc.Arbitrary<DocumentWrite> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(key, revision, fc.record({ owner: fc.integer({ min: 1, max: 2 }), isColored: flag, isPublished: flag }))
      .map(([id, at, values]) => put(diamond(id, { ...values, v4: `at ${at}` }), at)),
  },
  { weight: 1, arbitrary: fc.tuple(key, revision).map(([id, at]) => remove(id, at)) },
)
const batches = fc.array(oneWriteEach(fc.array(written, { maxLength: 8 })), { maxLength: 5 })

/** A batch has one write per document, as the projection runner produces it. */
function oneWriteEach(all: fc.Arbitrary<DocumentWrite[]>): fc.Arbitrary<DocumentWrite[]> {
  return all.map((writes) => [...new Map(writes.map((write) => [keyOf(write), write])).values()])
}

const keyOf = (write: DocumentWrite) => ('put' in write ? write.put['id'] : write.remove)

const values = [undefined, 0, 1]
const countable = [1, 2].flatMap((owner) =>
  values.flatMap((isColored) =>
    values.map((isPublished) => ({
      owner,
      ...(isColored !== undefined && { isColored }),
      ...(isPublished !== undefined && { isPublished }),
    })),
  ),
)

const withBatches =
  (
    open: () => Promise<OpenedReadStore>,
    action: (build: ReadModelBuild, store: ReadStore, writes: readonly (readonly DocumentWrite[])[]) => Promise<void>,
  ) =>
  (writes: readonly (readonly DocumentWrite[])[]) =>
    using(open, async ({ store }) => action(await store.live(diamonds), store, writes))()

async function everything(store: ReadStore, declaration = diamonds) {
  const model = await store.model(declaration)
  const select = ['id', 'owner', 'isColored', 'isPublished', 'v4', 'revision']
  const owned = (owner: number) =>
    model.find({ where: { owner }, order: [['date', 'asc']], limit: 1000, offset: 0, select })
  return [...(await owned(1)), ...(await owned(2))]
}
