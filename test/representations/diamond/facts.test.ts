import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'
import { factsOf } from '../../../src/representations/diamond/facts.ts'

const least = { sku: 'A-1', cutShape: 'My own cut', carat: 0.5 }

const test = suite('the facts of a stone')

test('are those that its owner has said, and where it comes from', () => {
  assert.equal(factsOf(withDefaults(least)), [
    ['Shape', 'My own cut'],
    ['Weight', '0.50 ct'],
    ['Origin', 'Natural'],
    ['SKU', 'A-1'],
  ])
})

test('are told in the order of a reader, the parts of a colour and of a fluorescence together', () => {
  const grades = {
    color: 18,
    clarity: 16,
    cutQuality: 1,
    polish: 2,
    symmetry: 10,
    girdle: 'Thin-Medium',
    culetSize: 'N',
  }
  const colours = { fancyGrade: 14, colorModifier: 1, colorHue: 11, fluorIntensity: 2, fluorColor: 1 }
  assert.equal(factsOf(withDefaults({ ...least, cutShape: 2, ...grades, ...colours, isLabGrown: true })), [
    ['Shape', 'Round'],
    ['Weight', '0.50 ct'],
    ['Colour', 'G'],
    ['Fancy colour', 'Fancy Intense Brownish Yellow'],
    ['Clarity', 'LC'],
    ['Cut grade', 'Excellent'],
    ['Polish', 'Very Good'],
    ['Symmetry', 'Ideal'],
    ['Fluorescence', 'Faint, Blue'],
    ['Girdle', 'Thin-Medium'],
    ['Culet', 'N'],
    ['Origin', 'Laboratory-grown'],
    ['SKU', 'A-1'],
  ])
})

test('name no colour of a fluorescence that has none', () => {
  const facts = new Map(factsOf(withDefaults({ ...least, fluorIntensity: 1, fluorColor: 7 })))
  assert.is(facts.get('Fluorescence'), 'None')
})

test.run()
