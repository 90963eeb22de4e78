import type { Test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  ConcurrencyConflict,
  type ReadModelBuild,
  type StoredDocument,
  type DocumentWrite,
} from '../../../src/stores/ports/read-store.ts'
import { at, diamond, diamonds, idsIn, put, remove, using, type OpenedReadStore } from './model.ts'

export function writingRules(test: Test, open: () => Promise<OpenedReadStore>): void {
  test(
    'documents are stored together with the checkpoint of their batch',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      assert.is(await build.checkpoint(), undefined)
      await build.write([put(diamond(1)), put(diamond(2))], at(7))
      assert.equal(await build.checkpoint(), at(7))
      assert.equal(await idsIn(store), [1, 2])
    }),
  )

  test(
    'a batch that fails changes nothing, and the next one succeeds',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      const { v4: _, ...incomplete } = diamond(2)
      await rejects(build.write([put(diamond(1)), put(incomplete)], at(7)), /has no v4/)
      assert.is(await build.checkpoint(), undefined)
      assert.equal(await idsIn(store), [])
      assert.is(await (await store.model(diamonds)).count({ owner: 1 }), 0)
      await build.write([put(diamond(1))], at(8))
      assert.equal(await idsIn(store), [1])
    }),
  )

  test(
    'a put with an equal or lower revision changes neither document nor counts',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1, { v4: 'fifth' }), 5n)], at(1))
      await build.write([put(diamond(1, { v4: 'fourth', isColored: 1 }), 4n)], at(2))
      await build.write([put(diamond(1, { v4: 'another fifth', isColored: 1 }), 5n)], at(3))
      const model = await store.model(diamonds)
      assert.equal(await model.get(1, ['v4']), { v4: 'fifth' })
      assert.is(await model.count({ owner: 1, isColored: 1 }), 0)
      assert.is(await model.count({ owner: 1, isColored: 0 }), 1)
    }),
  )

  test(
    'a removal with an equal or lower revision removes nothing',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1), 5n)], at(1))
      await build.write([remove(1, 5n), remove(2, 9n)], at(2))
      assert.equal(await idsIn(store), [1])
      await build.write([remove(1, 6n)], at(3))
      assert.equal(await idsIn(store), [])
      assert.is(await (await store.model(diamonds)).count({ owner: 1 }), 0)
    }),
  )

  for (const [description, writeBasedOn] of [
    [
      'a put',
      (loaded: StoredDocument): DocumentWrite => ({ put: diamond(1, { v4: 'third' }), revision: 7n, basedOn: loaded }),
    ],
    ['a removal', (loaded: StoredDocument): DocumentWrite => ({ remove: 1, revision: 7n, basedOn: loaded })],
  ] as const) {
    test(
      `${description} based on an outdated document is rejected with its batch, and succeeds when based on the current one`,
      using(open, async ({ store }) => {
        const build = await store.live(diamonds)
        await build.write([put(diamond(1), 1n)], at(1))
        const loaded = await loadedOne(build, 1)
        await build.write([put(diamond(1, { isPublished: 1, v4: 'second' }), 5n)], at(2))
        const rejected = build.write([put(diamond(2), 6n), writeBasedOn(loaded)], at(3))
        assert.instance(await rejected.catch((error: unknown) => error), ConcurrencyConflict)
        const model = await store.model(diamonds)
        assert.equal(await model.get(1, ['v4']), { v4: 'second' })
        assert.is(await model.count({ owner: 1 }), 1)
        assert.equal(await build.checkpoint(), at(2))
        await build.write([put(diamond(2), 6n), writeBasedOn(await loadedOne(build, 1))], at(3))
        assert.not.equal(await model.get(1, ['v4']), { v4: 'second' })
        assert.is(await model.count({ owner: 1, isPublished: 1 }), 0)
      }),
    )
  }

  test(
    'a put based on a loaded document changes nothing if it or a later write is stored already',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1), 1n)], at(1))
      const loaded = await loadedOne(build, 1)
      for (const [v4, revision] of [
        ['second', 5n],
        ['third', 7n],
      ] as const) {
        await build.write([put(diamond(1, { v4 }), revision)], at(2))
        await build.write([{ put: diamond(1, { v4: 'again' }), revision: 5n, basedOn: loaded }], at(2))
        assert.equal(await (await store.model(diamonds)).get(1, ['v4']), { v4 })
      }
    }),
  )

  test(
    'an update moves a document in every index and between counts',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1)), put(diamond(2))], at(1))
      const moved = { owner: 2, date: 1, sku: 'B', isColored: 1, isPublished: 1, v4: 'new' }
      await build.write([put(diamond(1, moved), 1n), put(diamond(2, { v3: 'new' }), 1n)], at(2))
      const model = await store.model(diamonds)
      assert.equal(await model.get(1, ['owner', 'date', 'sku', 'isColored', 'isPublished', 'v4']), moved)
      assert.equal(await model.get(2, ['v3', 'sku']), { v3: 'new', sku: 'SKU-2' })
      assert.is(await model.count({ owner: 2, isColored: 1, isPublished: 1 }), 1)
      assert.is(await model.count({ owner: 1 }), 1)
      assert.is(await model.count({ owner: 2, sku: 'B' }), 1)
    }),
  )

  test(
    'a batch replaces hundreds of documents',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      const ids = Array.from({ length: 250 }, (_, index) => index + 1)
      await build.write(
        ids.map((id) => put(diamond(id), 0n)),
        at(1),
      )
      await build.write(
        ids.map((id) => put(diamond(id, { isColored: 1, v4: 'second' }), 1n)),
        at(2),
      )
      assert.equal(await build.checkpoint(), at(2))
      const model = await store.model(diamonds)
      assert.is(await model.count({ owner: 1, isColored: 1 }), ids.length)
      assert.is((await build.load(ids)).filter(({ document }) => document['v4'] === 'second').length, ids.length)
    }),
  )

  test(
    'an older batch that is written again does not restore documents removed since',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1))], at(1))
      await build.write([remove(1, 1n)], at(2))
      await build.write([put(diamond(1))], at(1))
      assert.equal(await idsIn(store), [])
      assert.equal(await build.checkpoint(), at(2))
    }),
  )

  test(
    'a batch of another log is rejected with the identities of both logs',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1))], at(1))
      await rejects(build.write([put(diamond(2))], { ...at(2), log: 'log-2' }), /log-1.*log-2/)
      assert.equal(await idsIn(store), [1])
    }),
  )

  test(
    'load returns documents with all fields and texts, and omits unknown keys',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1), 3n), put(diamond(2), 2n ** 40n)], at(1))
      const loaded = await build.load([2, 99, 1])
      const sorted = loaded.toSorted((a, b) => Number(a.document['id']) - Number(b.document['id']))
      assert.equal(sorted, [
        { document: diamond(1), revision: 3n },
        { document: diamond(2), revision: 2n ** 40n },
      ])
      assert.equal(await build.load([]), [])
    }),
  )

  test(
    'a field without an index can change with the texts or alone',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1), 1n), put(diamond(2), 1n)], at(1))
      await build.write([put(diamond(1, { etag: 'second', v4: 'v4 again' }), 2n)], at(2))
      await build.write([put(diamond(2, { etag: 'other' }), 3n)], at(3))
      const model = await store.model(diamonds)
      assert.equal(await model.get(1, ['etag', 'sku', 'v4']), { etag: 'second', sku: 'SKU-1', v4: 'v4 again' })
      assert.equal(await model.get(2, ['etag', 'v4']), { etag: 'other', v4: 'v4 of 2' })
      assert.is(await model.count({ owner: 1 }), 2)
      assert.equal(await idsIn(store), [1, 2])
    }),
  )

  test(
    'load returns the whole document with its revision',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      await build.write([put(diamond(1), 3n)], at(1))
      assert.equal(await build.load([1]), [{ document: diamond(1), revision: 3n }])
    }),
  )

  test(
    'any text is preserved, including U+0000 and characters outside the BMP',
    using(open, async ({ store }) => {
      const build = await store.live(diamonds)
      const texts = [
        '',
        '\u0000',
        'a\u0000b',
        'caf\u00e9 \u6f22\u5b57',
        '\u{1f48e} \u{10ffff}',
        '"\\\'; --',
        '\ufeffx\u2028',
      ]
      const documents = texts.map((text, index) => diamond(index + 1, { sku: text, v4: text, state: text }))
      await build.write(
        documents.map((document) => put(document)),
        at(1),
      )
      const model = await store.model(diamonds)
      for (const [index, text] of texts.entries()) {
        assert.equal(await model.get(index + 1, ['v4', 'sku']), { v4: text, sku: text })
        assert.is(await model.count({ owner: 1, sku: { in: [text, 'none'] } }), 1)
      }
      assert.equal((await build.load([2]))[0]?.document, documents[1])
    }),
  )
}

async function loadedOne(build: ReadModelBuild, id: number): Promise<StoredDocument> {
  const [loaded] = await build.load([id])
  if (loaded === undefined) throw new Error(`document ${id} is missing`)
  return loaded
}

async function rejects(promise: Promise<unknown>, message: RegExp): Promise<void> {
  const outcome = await promise.then(
    () => 'resolved',
    (error: unknown) => error,
  )
  assert.instance(outcome, Error)
  if (outcome instanceof Error) assert.match(outcome.message, message)
}
