import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { drawPicture, drawRocked, drawStone, type RgbaImage } from '../../../src/optics/picture/picture.ts'
import { solidOfCut } from '../../../src/optics/cut/trace-cut.ts'
import { toConvexBody } from '../../../src/optics/mesh/convex-body.ts'
import { solidOfBody } from '../../../src/optics/mesh/solid-of-body.ts'
import { isClose, nominalCut, roundOf, rotatedBy } from '../cuts.ts'
import { bodyOfRevolution } from '../mesh/round-bodies.ts'

const test = suite('a picture of a stone')

const pixel = ({ width, pixels }: RgbaImage, column: number, row: number) => {
  const base = 4 * (row * width + column)
  return [...pixels.subarray(base, base + 4)]
}

const round = drawStone(roundOf({}), 'aset', 64)

test('is transparent outside the stone and opaque inside', () => {
  assert.equal([round.width, round.height], [64, 64])
  assert.is(pixel(round, 0, 0)[3], 0)
  assert.is(pixel(round, 32, 32)[3], 255)
})

test('of a round in ASET colours is mostly red: light from 45 to 75 degrees', () => {
  const shown = Array.from({ length: 64 * 64 }, (_, index) => pixel(round, index % 64, Math.floor(index / 64)))
  const stone = shown.filter(([, , , opacity]) => opacity === 255)
  const red = stone.filter(([r = 0, g = 0, b = 0]) => r > 1.3 * g && r > 1.3 * b)
  assert.ok(red.length > 0.5 * stone.length, `${red.length} of ${stone.length}`)
})

test('has the aspect ratio of the stone', () => {
  const { width, height } = drawStone(solidOfCut(nominalCut('Marquise', 'Ideal')).solid, 'aset', 60)
  assert.ok(height >= 60 && height <= 61 && Math.abs(height / width - 2.025) < 0.1, `${width} x ${height}`)
})

test('of a pear has its point at the top, even if the solid has it at the bottom', () => {
  const pear = solidOfCut(nominalCut('Pear', 'Excellent')).solid
  for (const stone of [pear, rotatedBy(pear, Math.PI)]) {
    const drawn = drawStone(stone, 'aset', 60)
    const opaque = (row: number) =>
      Array.from({ length: drawn.width }, (_, column) => pixel(drawn, column, row)[3]).filter((value) => value === 255)
        .length
    assert.ok(1.5 * opaque(8) < opaque(52), `${opaque(8)} above, ${opaque(52)} below`)
  }
})

test('of a briolette has its point at the top, and shows light from all its facets', () => {
  const drawn = drawStone(solidOfCut(nominalCut('Briolette', 'Typical')).solid, 'aset', 60)
  assert.ok(isClose(drawn.height / drawn.width, 1.7, 0.06), `${drawn.width} x ${drawn.height}`)
  const colours = (row: number) =>
    Array.from({ length: drawn.width }, (_, column) => pixel(drawn, column, row)).filter(([, , , a]) => a === 255)
  assert.ok(2 * colours(8).length < colours(36).length, `${colours(8).length} above, ${colours(36).length} below`)
  for (const row of [15, 30, 45]) assert.ok(new Set(colours(row).map(String)).size > 8, `row ${row}`)
})

test('of a heart shows both halves as mirror images', () => {
  const heart = drawStone(solidOfCut(nominalCut('Heart', 'Excellent')).solid, 'aset', 48)
  const opaque = (column: number) =>
    Array.from({ length: heart.height }, (_, row) => pixel(heart, column, row)[3]).filter((opacity) => opacity === 255)
      .length
  for (const column of [6, 12, 18]) assert.ok(Math.abs(opaque(column) - opaque(heart.width - 1 - column)) <= 1)
  assert.is(pixel(heart, heart.width >> 1, 1)[3], 0)
})

test('in face-up view has colours from several wavelengths', () => {
  const { pixels } = drawStone(roundOf({}), 'face-up', 40)
  const coloured = pixels.filter((value, index) => index % 4 === 0 && Math.abs(value - (pixels[index + 2] ?? 0)) > 20)
  assert.ok(coloured.length > 10)
})

test('shows the whole outline if girdle facets are tilted: the opaque area equals the face-up area', () => {
  const frustum = (below: number, above: number) =>
    solidOfBody(
      toConvexBody(
        bodyOfRevolution(
          [
            [0.5, -2],
            [below, 0],
            [above, 1.5],
            [2.5, 1.6],
          ],
          12,
        ),
      ),
    ).solid
  for (const stone of [frustum(3, 2.8), frustum(2.8, 3), frustum(3, 3)]) {
    const { width, pixels } = drawStone(stone, 'aset', 100)
    const opacity = pixels.reduce((sum, value, index) => (index % 4 === 3 ? sum + value / 255 : sum), 0)
    const area = opacity * ((1.04 * stone.length) / 100) ** 2
    assert.ok(Math.abs(area / stone.faceUpArea - 1) < 0.01, `${area} of ${stone.faceUpArea}, ${width} wide`)
  }
})

const frame = ({ width, height, pixels }: RgbaImage, index: number): RgbaImage => {
  const columns = width / 5
  const rows = Array.from({ length: height }, (_, row) => [
    ...pixels.subarray(4 * (row * width + index * columns), 4 * (row * width + (index + 1) * columns)),
  ])
  return { width: columns, height, pixels: Uint8ClampedArray.from(rows.flat()) }
}

test('of a rocked stone has five frames side by side: the middle one level, the outer ones foreshortened', () => {
  const rocked = drawRocked(roundOf({}), 'face-up', 40)
  assert.is(rocked.width % 5, 0)
  const area = (index: number) => frame(rocked, index).pixels.filter((value, at) => at % 4 === 3 && value > 0).length
  assert.ok(area(0) < area(2) && area(4) < area(2), `${[0, 1, 2, 3, 4].map(area)}`)
  const level = drawStone(roundOf({}), 'face-up', 40)
  const middle = frame(rocked, 2)
  assert.ok(Math.abs(middle.height - level.height) <= 1 && Math.abs(middle.width - level.width) <= 1)
})

test('of a rocked heart shows two halves with symmetric outlines', () => {
  const { width, height, pixels } = frame(drawRocked(solidOfCut(nominalCut('Heart', 'Excellent')).solid, 'aset', 40), 0)
  const opaque = (column: number) =>
    Array.from({ length: height }, (_, row) => pixels[4 * (row * width + column) + 3]).filter((value) => value === 255)
      .length
  for (const column of [6, 10, 14]) {
    assert.ok(opaque(column) > 8)
    assert.ok(Math.abs(opaque(column) - opaque(width - 1 - column)) <= 1, `${column}`)
  }
})

test('for a report page has twice the displayed resolution', () => {
  const { width, height } = drawPicture(roundOf({}), 'aset')
  assert.ok(Math.abs(Math.max(width, height) - 480) <= 1)
})

test('is the same every time', () => {
  assert.equal(drawStone(roundOf({}), 'aset', 24).pixels, drawStone(roundOf({}), 'aset', 24).pixels)
})

test.run()
