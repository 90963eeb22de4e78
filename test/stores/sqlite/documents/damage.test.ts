import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ReadModelLost, type ReadStore } from '../../../../src/stores/ports/read-store.ts'
import { openSqliteReadStore } from '../../../../src/stores/sqlite/documents.ts'
import { at, diamond, diamonds, idsIn, put } from '../../../contract/read-store/model.ts'
import { commitElsewhere, DAMAGES, fileIn, overwriteMiddle, putAsideIn } from '../../../damage.ts'

type Warning = { readonly fields: Readonly<Record<string, unknown>>; readonly message: string }
type Context = { folder: string; open: () => ReadStore; warnings: Warning[] }
const test = suite<Context>('a damaged file of read models')
const stores: ReadStore[] = []
test.before.each((context) => {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'))
  const warnings: Warning[] = []
  context.folder = folder
  context.warnings = warnings
  context.open = () => {
    const store = openSqliteReadStore(folder, { warn: (fields, message) => warnings.push({ fields, message }) })
    stores.push(store)
    return store
  }
})
test.after.each(async ({ folder }) => {
  for (const store of stores.splice(0)) await store.close()
  rmSync(folder, { recursive: true })
})

const rubies = { ...diamonds, name: 'rubies' }
const failureOf = async (action: () => unknown) => {
  try {
    await action()
  } catch (error) {
    return error
  }
  return undefined
}

/** A closed store with live builds of two models, each of many pages. */
async function fill({ open }: Context): Promise<void> {
  const store = open()
  for (const model of [diamonds, rubies]) {
    const documents = Array.from({ length: 300 }, (_, index) => put(diamond(index + 1)))
    await (await store.live(model)).write(documents, at(300))
  }
  await store.close()
}

for (const [name, damage] of DAMAGES) {
  test(`${name} is put aside when it is opened, and other models are not affected`, async (context) => {
    const { folder, open, warnings } = context
    await fill(context)
    const file = fileIn(folder, 'read-diamonds')
    damage(file)
    const store = open()
    const model = await store.model(diamonds)
    assert.instance(await failureOf(() => model.count({ owner: 1 })), ReadModelLost)
    assert.is(await model.position(), 'start')
    for (const read of [
      () => model.get(1, ['v4']),
      () => idsIn(store),
      () => model.parkedStreams(),
      () => store.live(diamonds),
    ])
      assert.instance(await failureOf(read), ReadModelLost)
    const [aside] = putAsideIn(folder)
    assert.match(aside ?? '', `${basename(file)}.damaged-`)
    assert.equal(
      warnings.map(({ fields, message }) => [fields['file'], message.includes(String(aside))]),
      [[file, true]],
    )
    assert.is(await (await store.model(rubies)).count({ owner: 1 }), 300)

    const build = await store.begin(diamonds)
    await build.write([put(diamond(7))], at(301))
    await store.promote(diamonds, build)
    assert.equal(await idsIn(store), [7])
  })

  test(`${name} is replaced if it is the index of builds, whose builds stay live`, async (context) => {
    const { folder, open } = context
    await fill(context)
    const before = openSqliteReadStore(folder)
    const { id } = await before.live(diamonds)
    await before.close()
    damage(join(folder, 'read-models.db'))
    const store = open()
    assert.is((await store.live(diamonds)).id, id)
    assert.is(await (await store.model(diamonds)).count({ owner: 1 }), 300)
    assert.is(await (await store.model(rubies)).count({ owner: 1 }), 300)
  })
}

test('found by one of two processes is given up by the other', async (context) => {
  const { folder, open } = context
  await fill(context)
  const [one, other] = [open(), open()]
  const build = await one.live(diamonds)
  overwriteMiddle(fileIn(folder, 'read-diamonds'))
  const model = await other.model(diamonds)
  assert.instance(await failureOf(() => model.count({ owner: 1 })), ReadModelLost)
  assert.is(await one.isLive(diamonds, build), false)
  assert.instance(await failureOf(() => build.write([], at(301))), ReadModelLost)
  assert.is(putAsideIn(folder).length, 1)
})

test('that is found during a write is put aside, and nothing more is written to it', async (context) => {
  const { folder, open } = context
  await fill(context)
  const store = open()
  const build = await store.live(diamonds)
  const file = fileIn(folder, 'read-diamonds')
  overwriteMiddle(file)
  commitElsewhere(file)
  assert.instance(await failureOf(() => build.write([put(diamond(301))], at(301))), ReadModelLost)
  assert.is(await store.isLive(diamonds, build), false)
  assert.is(putAsideIn(folder).length, 1)
})

test('that holds the index is replaced while several processes use it', async (context) => {
  const { folder, open } = context
  await fill(context)
  const [one, other] = [open(), open()]
  const models = await Promise.all([one.model(diamonds), other.model(diamonds)])
  const index = join(folder, 'read-models.db')
  overwriteMiddle(index)
  commitElsewhere(index)
  // Changes of other processes are noticed between turns of the event loop.
  await nextTurn()
  for (const model of models) assert.is(await model.count({ owner: 1 }), 300)
  assert.is(putAsideIn(folder).length, 1)
  const next = await one.begin(diamonds)
  await one.promote(diamonds, next)
  await nextTurn()
  assert.is((await other.live(diamonds)).id, next.id)
})

test('that is the lock of a lease is replaced by another one', async ({ folder, open }) => {
  const [one, other] = [open(), open()]
  writeFileSync(join(folder, 'read-diamonds-v1.lock'), 'read models\n'.repeat(1_000))
  const lease = await one.acquireLease(diamonds)
  assert.ok(lease)
  assert.is(await other.acquireLease(diamonds), undefined)
  await lease?.release()
})

test('does not stop an opening if its WAL is not one', async (context) => {
  const { folder, open } = context
  await fill(context)
  const file = fileIn(folder, 'read-diamonds')
  writeFileSync(`${file}-wal`, Buffer.alloc(40_000, 0xa5))
  assert.is(await (await open().model(diamonds)).count({ owner: 1 }), 300)
})

test('replaces the one that was put aside before', async (context) => {
  const { folder, open } = context
  await fill(context)
  for (let round = 0; round < 3; round++) {
    overwriteMiddle(fileIn(folder, 'read-diamonds'))
    const store = open()
    assert.instance(await failureOf(async () => (await store.model(diamonds)).count({ owner: 1 })), ReadModelLost)
    const build = await store.begin(diamonds)
    await build.write(
      Array.from({ length: 300 }, (_, index) => put(diamond(index + 1))),
      at(300),
    )
    await store.promote(diamonds, build)
    await store.close()
    assert.is(putAsideIn(folder).length, 1)
  }
})

test('is found in an index that no query has read', async (context) => {
  const { folder, open } = context
  await fill(context)
  overwriteMiddle(fileIn(folder, 'read-rubies'))
  const store = open()
  const damage = await store.findDamage([diamonds, rubies])
  assert.equal(
    damage.map(({ model }) => model),
    ['rubies'],
  )
  assert.equal(await store.findDamage([diamonds, rubies]), damage)
})

test.run()
