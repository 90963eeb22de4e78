import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { drawScale, gradeText } from '../../../src/http/report/scores-section.ts'

const test = suite('the scale of grades')

test("places the platform's example: fire .73 ± .05 from 0.9 of Good to 8/15 of Very Good", () => {
  const { html } = drawScale('fire', 0.73, 0.05, 'Fire')
  const mark = /class="mark"\s+x="([\d.]+)"[^>]*width="([\d.]+)"/.exec(html)
  const segment = 324 / 6
  assert.ok(Math.abs(Number(mark?.[1]) - 2.9 * segment) < 0.02)
  assert.ok(Math.abs(Number(mark?.[2]) - (3 + 8 / 15 - 2.9) * segment) < 0.02)
  assert.is(gradeText({ ag: ['G', 'VG'] }), 'Good to Very Good')
})

test('clips a value above the last bound', () => {
  const mark = /class="mark"\s+x="([\d.]+)"[^>]*width="([\d.]+)"/.exec(drawScale('symmetry', 9.8, 0.1, 'S').html)
  assert.is(Number(mark?.[1]) + Number(mark?.[2]), 324)
})

test('has room for a marker at either end', () => {
  const [from = NaN, , wide = NaN] =
    /viewBox="([^"]+)"/
      .exec(drawScale('fire', 1.4, 0.1, 'F').html)?.[1]
      ?.split(' ')
      .map(Number) ?? []
  assert.ok(from <= -1 && from + wide >= 325)
})

test.run()
