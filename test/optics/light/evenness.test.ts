import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { addToCells, evennessOf, createBrightnessGrid } from '../../../src/optics/light/face-up.ts'
import { isClose } from '../cuts.ts'

const test = suite('evenness')

/** A square face of 28 by 28 spots with the given brightness at each position. */
function evennessBy(brightnessAt: (x: number, y: number) => number): number {
  const cells = createBrightnessGrid(28, 28)
  for (let x = 0; x < 28; x++) for (let y = 0; y < 28; y++) addToCells(cells, x + 0.5, y + 0.5, brightnessAt(x, y))
  return evennessOf(cells)
}

test('is 1 for uniform brightness', () =>
  assert.ok(
    isClose(
      evennessBy(() => 0.3),
      1,
      1e-12,
    ),
  ))

test('is 1 if every cell contains bright and dark spots equally', () =>
  assert.ok(
    isClose(
      evennessBy((x, y) => (x + y) % 2),
      1,
      1e-12,
    ),
  ))

test('is 0 if more than a fifth of the face is one dark area', () =>
  assert.is(
    evennessBy((x) => (x < 8 ? 0 : 1)),
    0,
  ))

test('does not depend on the overall brightness', () => {
  const sloping = (x: number, y: number) => 0.1 + x / 40 + y / 90
  assert.ok(
    isClose(
      evennessBy(sloping),
      evennessBy((x, y) => 3 * sloping(x, y)),
      1e-12,
    ),
  )
})

test('decreases as the middle gets darker', () => {
  const [clear, dim, dark] = [1, 0.5, 0].map((light) =>
    evennessBy((x, y) => (Math.hypot(x - 14, y - 14) < 8 ? light : 1)),
  )
  assert.ok((clear ?? 0) > (dim ?? 0) && (dim ?? 0) > (dark ?? 0), `${clear}, ${dim}, ${dark}`)
})

test('ignores cells that are less than half covered by the stone', () => {
  const cells = createBrightnessGrid(28, 28)
  for (let x = 0; x < 28; x++) for (let y = 0; y < 25; y++) addToCells(cells, x + 0.5, y + 0.5, y === 24 ? 0 : 1)
  assert.is(evennessOf(cells), 1)
})

test('is 0 for a face that is completely dark', () =>
  assert.is(
    evennessBy(() => 0),
    0,
  ))

test.run()
