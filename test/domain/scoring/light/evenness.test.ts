import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { addToCells, evennessOf, createBrightnessGrid } from '../../../../src/domain/scoring/light/face-up.ts'
import { close } from '../cuts.ts'

const test = suite('how evenly a face is lit')

/** A square face of 28 spots, each as bright as is said of its place. */
function evennessBy(brightnessAt: (x: number, y: number) => number): number {
  const cells = createBrightnessGrid(28, 28)
  for (let x = 0; x < 28; x++) for (let y = 0; y < 28; y++) addToCells(cells, x + 0.5, y + 0.5, brightnessAt(x, y))
  return evennessOf(cells)
}

test('is 1 where every place is as bright', () =>
  assert.ok(
    close(
      evennessBy(() => 0.3),
      1,
      1e-12,
    ),
  ))

test('is 1 where bright and dark stand so close together that every place has both', () =>
  assert.ok(
    close(
      evennessBy((x, y) => (x + y) % 2),
      1,
      1e-12,
    ),
  ))

test('is nothing where more than a fifth of the face lies together in the dark', () =>
  assert.is(
    evennessBy((x) => (x < 8 ? 0 : 1)),
    0,
  ))

test('does not depend on how bright the whole face is', () => {
  const sloping = (x: number, y: number) => 0.1 + x / 40 + y / 90
  assert.ok(
    close(
      evennessBy(sloping),
      evennessBy((x, y) => 3 * sloping(x, y)),
      1e-12,
    ),
  )
})

test('falls with the depth of a dark middle', () => {
  const [clear, dim, dark] = [1, 0.5, 0].map((light) =>
    evennessBy((x, y) => (Math.hypot(x - 14, y - 14) < 8 ? light : 1)),
  )
  assert.ok((clear ?? 0) > (dim ?? 0) && (dim ?? 0) > (dark ?? 0), `${clear}, ${dim}, ${dark}`)
})

test('leaves out what shows less than half a cell of the stone', () => {
  const cells = createBrightnessGrid(28, 28)
  for (let x = 0; x < 28; x++) for (let y = 0; y < 25; y++) addToCells(cells, x + 0.5, y + 0.5, y === 24 ? 0 : 1)
  assert.is(evennessOf(cells), 1)
})

test('of a face that is dark all over is nothing', () =>
  assert.is(
    evennessBy(() => 0),
    0,
  ))

test.run()
