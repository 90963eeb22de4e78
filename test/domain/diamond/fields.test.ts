import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withDefaults, DEFAULTS, withoutDefaults, type DiamondFields } from '../../../src/domain/diamond/fields.ts'

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
  access: 2,
  dataAccess: 1,
}
const test = suite('the fields of a diamond')

test('that were not set are at their defaults', () => {
  assert.equal(withDefaults(least), { ...DEFAULTS, ...least })
})

test('that were set stay, every one of them', () => {
  assert.equal(withDefaults(full), full)
})

test('are kept without their defaults, and come back whole', () => {
  assert.equal(withoutDefaults(withDefaults(least)), least)
  assert.equal(withDefaults(withoutDefaults(full)), full)
})

test.run()
