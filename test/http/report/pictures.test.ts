import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ImpossibleProportions } from '../../../src/optics/cut/proportions.ts'
import { StonePictureCache, type PictureRenderer } from '../../../src/http/report/pictures.ts'
import { nominalCut } from '../../optics/cuts.ts'

const test = suite('pictures of report pages')

const round = nominalCut('Round', 'Good')

/** A picture cache that records what it draws, and its store for pictures beyond the memory. */
function recordingCache(
  render: PictureRenderer = async () => new Uint8Array([1]),
  stored = new Map<string, Uint8Array>(),
) {
  const drawn: string[] = []
  const draw: PictureRenderer = (order) => {
    const { subject, kind } = order
    drawn.push(`${'cut' in subject ? subject.cut.shape : subject.model}, ${kind}`)
    return render(order)
  }
  const pictures = new StonePictureCache(draw, {
    get: async (key) => stored.get(key),
    put: async (key, png) => void stored.set(key, png),
  })
  return { drawn, pictures, beyond: stored }
}

test('are drawn once for each cut and light, for concurrent and later requests', async () => {
  const { drawn, pictures } = recordingCache()
  await Promise.all([1, 2, 3].map(() => pictures.pictureOf({ cut: { ...round } }, 'face-up').png()))
  await pictures.pictureOf({ cut: round }, 'face-up').png()
  await pictures.pictureOf({ cut: round }, 'aset').png()
  assert.equal(drawn, ['Round, face-up', 'Round, aset'])
})

test('have distinct entity tags without being drawn, equal for equal cuts and bodies', () => {
  const { drawn, pictures } = recordingCache()
  const tags = [
    pictures.pictureOf({ cut: round }, 'face-up'),
    pictures.pictureOf({ cut: { ...round } }, 'face-up'),
    pictures.pictureOf({ cut: round }, 'aset'),
    pictures.pictureOf({ cut: { ...round, measured: { tablePct: 57 } } }, 'face-up'),
    pictures.pictureOf({ model: 'a'.repeat(64) }, 'face-up'),
    pictures.pictureOf({ model: 'b'.repeat(64) }, 'face-up'),
  ].map(({ etag }) => etag)
  assert.is(tags[0], tags[1])
  assert.is(new Set(tags).size, 5)
  assert.equal(drawn, [])
})

test('that failed are drawn again for the next request', async () => {
  let fails = true
  const { pictures } = recordingCache(async () => {
    if (fails) throw new Error('the thread ended')
    return new Uint8Array([7])
  })
  assert.is(
    await pictures
      .pictureOf({ cut: round }, 'aset')
      .png()
      .catch(() => 'failed'),
    'failed',
  )
  fails = false
  assert.equal(await pictures.pictureOf({ cut: round }, 'aset').png(), new Uint8Array([7]))
})

test('do not exist for a stone with impossible proportions, which is checked once', async () => {
  const { drawn, pictures } = recordingCache(async () => {
    throw new ImpossibleProportions('the culet is above the table')
  })
  assert.is(await pictures.pictureOf({ cut: round }, 'aset').png(), undefined)
  assert.is(await pictures.pictureOf({ cut: round }, 'aset').png(), undefined)
  assert.is(drawn.length, 1)
})

test('of cuts are reused by a process that starts later, and those of uploaded models are drawn again', async () => {
  const first = recordingCache()
  await first.pictures.pictureOf({ cut: round }, 'rocked').png()
  await first.pictures.pictureOf({ model: 'a'.repeat(64) }, 'rocked').png()
  const second = recordingCache(undefined, first.beyond)
  assert.equal(await second.pictures.pictureOf({ cut: round }, 'rocked').png(), new Uint8Array([1]))
  await second.pictures.pictureOf({ model: 'a'.repeat(64) }, 'rocked').png()
  assert.equal(second.drawn, [`${'a'.repeat(64)}, rocked`])
  assert.is(first.beyond.size, 1)
})

test('are kept in memory up to 60, and the oldest are evicted first', async () => {
  const { drawn, pictures } = recordingCache()
  const models = Array.from({ length: 61 }, (_, index) => String(index).padStart(64, '0'))
  for (const model of models) await pictures.pictureOf({ model }, 'aset').png()
  assert.is(drawn.length, 61)
  await pictures.pictureOf({ model: models[60] ?? '' }, 'aset').png()
  assert.is(drawn.length, 61)
  await pictures.pictureOf({ model: models[0] ?? '' }, 'aset').png()
  assert.is(drawn.length, 62)
})

test.run()
