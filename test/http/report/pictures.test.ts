import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ImpossibleProportions } from '../../../src/domain/scoring/cut/proportions.ts'
import type { Cut } from '../../../src/domain/scoring/cut/cut.ts'
import { Pictures, type Draw } from '../../../src/http/report/pictures.ts'
import { plain } from '../../domain/scoring/cuts.ts'

const test = suite('the pictures of report pages')

const round = plain('Round', 'Good')

/** Draws at once, and knows what it was asked for. */
function drawing(answer: Draw = async () => new Uint8Array([1])) {
  const drawn: string[] = []
  const pictures = new Pictures((order) => {
    const { shown, lighting } = order
    drawn.push(`${'cut' in shown ? shown.cut.shape : shown.model}, ${lighting}`)
    return answer(order)
  })
  return { drawn, pictures }
}

test('are drawn once for each cut and light, whoever asks, at once or later', async () => {
  const { drawn, pictures } = drawing()
  await Promise.all([1, 2, 3].map(() => pictures.of({ cut: { ...round } }, 'face-up').png()))
  await pictures.of({ cut: round }, 'face-up').png()
  await pictures.of({ cut: round }, 'aset').png()
  assert.equal(drawn, ['Round, face-up', 'Round, aset'])
})

test('have a tag of their own without being drawn, the same for equal cuts and bodies', () => {
  const { drawn, pictures } = drawing()
  const tags = [
    pictures.of({ cut: round }, 'face-up'),
    pictures.of({ cut: { ...round } }, 'face-up'),
    pictures.of({ cut: round }, 'aset'),
    pictures.of({ cut: { ...round, measured: { tablePct: 57 } } }, 'face-up'),
    pictures.of({ model: 'a'.repeat(64) }, 'face-up'),
    pictures.of({ model: 'b'.repeat(64) }, 'face-up'),
  ].map(({ etag }) => etag)
  assert.is(tags[0], tags[1])
  assert.is(new Set(tags).size, 5)
  assert.equal(drawn, [])
})

test('that failed are tried again by who asks next', async () => {
  let fails = true
  const { pictures } = drawing(async () => {
    if (fails) throw new Error('the thread ended')
    return new Uint8Array([7])
  })
  assert.is(
    await pictures
      .of({ cut: round }, 'aset')
      .png()
      .catch(() => 'failed'),
    'failed',
  )
  fails = false
  assert.equal(await pictures.of({ cut: round }, 'aset').png(), new Uint8Array([7]))
})

test('do not exist of a stone that can not be, which is found once', async () => {
  const { drawn, pictures } = drawing(async () => {
    throw new ImpossibleProportions('the culet is above the table')
  })
  assert.is(await pictures.of({ cut: round }, 'aset').png(), undefined)
  assert.is(await pictures.of({ cut: round }, 'aset').png(), undefined)
  assert.is(drawn.length, 1)
})

test('are kept up to 200, the oldest go first', async () => {
  const { drawn, pictures } = drawing()
  const cuts = Array.from({ length: 201 }, (_, index): Cut => ({ ...round, measured: { tablePct: index } }))
  for (const cut of cuts) await pictures.of({ cut }, 'aset').png()
  assert.is(drawn.length, 201)
  await pictures.of({ cut: cuts[200] ?? round }, 'aset').png()
  assert.is(drawn.length, 201)
  await pictures.of({ cut: cuts[0] ?? round }, 'aset').png()
  assert.is(drawn.length, 202)
})

test.run()
