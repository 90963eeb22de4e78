import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withDefaults } from '../../../src/domain/diamond/fields.ts'
import { factsOf } from '../../../src/representations/diamond/facts.ts'

const least = { sku: 'A-1', cutShape: 'My own cut', carat: 0.5 }

const test = suite('the facts of a diamond')

test('are the fields that its owner has set, and its origin', () => {
  assert.equal(factsOf(withDefaults(least)), [
    ['Shape', 'My own cut'],
    ['Weight', '0.50 ct'],
    ['Origin', 'Natural'],
    ['SKU', 'A-1'],
  ])
})

test('are in display order, with the parts of a colour and of a fluorescence joined', () => {
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

test('omit the colour of a fluorescence without one', () => {
  const facts = new Map(factsOf(withDefaults({ ...least, fluorIntensity: 1, fluorColor: 7 })))
  assert.is(facts.get('Fluorescence'), 'None')
})

test.run()
