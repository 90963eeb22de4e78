import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withDefaults, DEFAULTS, withoutDefaults, type DiamondFields } from '../../../src/domain/diamond/fields.ts'
import { ALL_PROPORTIONS } from '../../fixtures/proportions.ts'

const least = { sku: 'A-1', cutShape: 2, carat: 0.5 }
const full: DiamondFields = {
  ...least,
  price: 100,
  isColored: true,
  isLabGrown: true,
  isPublished: true,
  clarity: 1,
  color: 15,
  cutQuality: 1,
  polish: 2,
  symmetry: 10,
  fluorIntensity: 1,
  fluorColor: 7,
  fancyGrade: 8,
  colorHue: 11,
  colorModifier: 1,
  culetSize: 'N',
  girdle: 'Thin-Medium',
  ...ALL_PROPORTIONS,
  access: 2,
  dataAccess: 1,
}
const test = suite('the fields of a diamond')

test('have their defaults if they are not set', () => {
  assert.equal(withDefaults(least), { ...DEFAULTS, ...least })
})

test('keep the values that are set', () => {
  assert.equal(withDefaults(full), full)
})

test('are restored completely after removing the defaults', () => {
  assert.equal(withoutDefaults(withDefaults(least)), least)
  assert.equal(withDefaults(withoutDefaults(full)), full)
})

test.run()
