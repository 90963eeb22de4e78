import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DICTIONARIES } from '../../../src/domain/diamond/fields.ts'
import { fluorScore } from '../../../src/domain/diamond/fluor-score.ts'
import type { Scores } from '../../../src/optics/scores.ts'

const test = suite('the fluorescence score')

const { fluorIntensity, fluorColor } = DICTIONARIES

/** @param intensity and @param color titles of the dictionaries */
function scored(intensity: string, color?: string): NonNullable<Scores['fluor']> {
  const score = fluorScore({
    fluorIntensity: fluorIntensity.find(intensity) ?? null,
    fluorColor: color === undefined ? null : (fluorColor.find(color) ?? null),
  })
  assert.ok(score)
  return score
}

for (const [intensity, member] of [
  ['None', 'n'],
  ['Faint', 'f'],
  ['Medium', 'm'],
  ['Strong', 's'],
  ['Very Strong', 'vs'],
] as const) {
  test(`of a stone with the intensity ${intensity} is 1 in ${member}, else 0`, () => {
    const { n, f, m, s, vs } = scored(intensity)
    assert.equal({ n, f, m, s, vs }, { n: 0, f: 0, m: 0, s: 0, vs: 0, [member]: 1 })
  })
}

for (const { title, id, short } of fluorColor.entries) {
  test(`has the id and the short form of the colour ${title}`, () => {
    const { color, colorCode, ver } = scored('Very Strong', title)
    assert.equal([color, colorCode], [id, short])
    assert.match(ver, /^\d+\.\d+\.\d+$/)
  })
}

test('of a stone without fluorescence has no colour, even if one was reported', () => {
  const { n, color, colorCode } = scored('None', 'Blue')
  assert.equal([n, color, colorCode], [1, 7, 'N'])
})

test('of a stone with an intensity alone has no colour', () => {
  assert.is(scored('Faint').color, 7)
})

test('is null without an intensity', () => {
  assert.is(fluorScore({ fluorIntensity: null, fluorColor: fluorColor.find('Blue') ?? null }), null)
})

test.run()
