import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DATASET_SIZE, readDemoStones } from '../../src/cli/demo/stones.ts'
import { withDefaults } from '../../src/domain/diamond/fields.ts'
import { proportionsOf, stoneOf } from '../../src/domain/diamond/scored-stone.ts'
import { cutKey } from '../../src/optics/cut/cut.ts'
import { cutOf } from '../../src/optics/cut/stone.ts'
import { findTracedCut } from '../../src/optics/score.ts'
import { parseNewDiamond } from '../../src/representations/diamond/parse-diamond.ts'

const test = suite('the stones of the demo')

/** Every stone, as the API reads it. */
async function* acceptedStones() {
  for await (const bulk of readDemoStones(DATASET_SIZE, 500))
    for (const entry of bulk) {
      const { value, errors } = parseNewDiamond('v4', entry, '')
      assert.ok(value, JSON.stringify({ entry, errors }))
      yield { fields: withDefaults(value), certifications: [] }
    }
}

test('are accepted with their proportions, and scored by cuts of the shipped table', async () => {
  const untraced: string[] = []
  let misread = 0
  let scored = 0
  for await (const diamond of acceptedStones()) {
    if (proportionsOf(diamond).warnings.length > 0) misread++
    const cut = cutOf(stoneOf(diamond))
    if (cut !== null && findTracedCut(cut) !== undefined) scored++
    else untraced.push(cut === null ? 'Other' : cutKey(cut))
  }
  // Its table, 95 %, is refused.
  assert.equal(untraced, ['Round, Fair, depthPct 58.6'])
  assert.is(scored, DATASET_SIZE - 1)
  // By their sizes.
  assert.is(misread, 43)
})

test.run()
