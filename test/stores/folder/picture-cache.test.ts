import { mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { deflateSync } from 'node:zlib'
import { encodePng } from '../../../src/optics/threads/png.ts'
import { openPictureCache } from '../../../src/stores/folder/picture-cache.ts'

const test = suite<{ root: string; folder: string }>('the picture cache')
test.before.each(async (given) => {
  given.root = await mkdtemp(join(tmpdir(), 'pictures-'))
  given.folder = join(given.root, 'pictures')
})
test.after.each(({ root }) => rm(root, { recursive: true }))

/** Bytes that no test reaches. */
const UNBOUNDED = 1e9
const png = (size = 4) =>
  encodePng({ width: size, height: size, pixels: new Uint8ClampedArray(4 * size * size).fill(7) })

test('returns a picture under the key it was stored with, in another process too', async ({ folder }) => {
  const pictures = openPictureCache(folder, UNBOUNDED)
  assert.is(await pictures.get('a cut'), undefined)
  await pictures.put('a cut/../with: anything', png())
  assert.equal(Buffer.from((await openPictureCache(folder, UNBOUNDED).get('a cut/../with: anything')) ?? []), png())
  assert.is(await pictures.get('a cut'), undefined)
  assert.equal(
    (await readdir(folder)).filter((name) => !/^[0-9a-f]{64}\.png$/.test(name)),
    [],
  )
})

test('ignores a truncated picture and accepts a complete one in its place', async ({ folder }) => {
  const pictures = openPictureCache(folder, UNBOUNDED)
  await pictures.put('a cut', png())
  const [file = ''] = await readdir(folder)
  await truncate(join(folder, file), png().length - 5)
  assert.is(await pictures.get('a cut'), undefined)
  await truncate(join(folder, file), 0)
  assert.is(await pictures.get('a cut'), undefined)
  await pictures.put('a cut', png())
  assert.ok(await pictures.get('a cut'))
})

test('creates its folder again after it was deleted', async ({ folder }) => {
  const pictures = openPictureCache(folder, UNBOUNDED)
  await pictures.put('a cut', png())
  await rm(folder, { recursive: true })
  assert.is(await pictures.get('a cut'), undefined)
  await pictures.put('a cut', png())
  assert.ok(await pictures.get('a cut'))
})

test('stays within its size by deleting the oldest pictures and the drafts of killed processes', async ({ folder }) => {
  const size = png().length
  const pictures = openPictureCache(folder, 5 * size)
  await pictures.put('0', png())
  await writeFile(join(folder, 'killed.part'), deflateSync(Buffer.alloc(size)))
  for (const [index, name] of (await readdir(folder)).entries()) await utimes(join(folder, name), 1, 1 + index)
  for (let index = 1; index < 9; index++) {
    await pictures.put(String(index), png())
    for (const name of await readdir(folder)) assert.ok(/\.(?:png|part)$/.test(name))
  }
  const names = await readdir(folder)
  assert.ok(names.length <= 5 && names.length >= 3, `${names.length}`)
  assert.not.ok(names.includes('killed.part'))
  assert.is(await pictures.get('0'), undefined)
  assert.ok(await pictures.get('8'))
})

test.run()
