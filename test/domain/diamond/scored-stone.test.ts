import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { withDefaults, DICTIONARIES, type DictionaryName, type NewDiamond } from '../../../src/domain/diamond/fields.ts'
import { stoneOf } from '../../../src/domain/diamond/scored-stone.ts'

const test = suite('the input of scoring')

const ROUND: NewDiamond = { sku: 'A', cutShape: 2, carat: 1.2 }
const stone = (fields: Partial<NewDiamond> = {}) =>
  stoneOf({ fields: withDefaults({ ...ROUND, ...fields }), certifications: [] })
const idOf = (name: DictionaryName, title: string) => {
  const id = Array.from({ length: 500 }, (_, at) => at).find((at) => {
    const dictionary = DICTIONARIES[name]
    return dictionary.has(at) && dictionary.title(at) === title
  })
  assert.ok(id !== undefined, `${name} has no ${title}`)
  return id
}

test('is the shape and the weight if no more is known', () => {
  assert.equal(stone(), { shape: 'Round', carat: 1.2 })
})

for (const [id, shape] of [
  [2, 'Round'],
  [4, 'Princess'],
  [9, 'CushionBrilliant'],
  [11, 'Oval'],
  [22, 'Pear'],
  [80, 'Marquise'],
  [83, 'Radiant'],
  [85, 'Heart'],
  [90, 'Emerald'],
  [92, 'Asscher'],
  [200, 'CushionBrilliant'],
  [201, 'CushionModified'],
  [202, 'Asscher'],
  [203, 'Radiant'],
  [1, 'Other'],
  ['Old rose', 'Other'],
  ['Trilliant', 'Trillion'],
  ['TRILLION', 'Trillion'],
  ['Triangular Brilliant', 'Trillion'],
  ['Rose cut', 'Rose'],
  ['rose', 'Rose'],
  ['Briolette', 'Briolette'],
  ['BRIOLETTE CUT', 'Briolette'],
  ['Briolette bead', 'Other'],
  ['Baguette', 'Baguette'],
  ['tapered baguette', 'Other'],
  ['OLD EUROPEAN CUT', 'OldEuropean'],
  ['Old Miner', 'OldMine'],
  ['2', 'Other'],
] as const) {
  test(`has the shape model ${shape} for the cut shape ${id}`, () => assert.is(stone({ cutShape: id }).shape, shape))
}

test('has the grades, each from its dictionary', () => {
  const graded = stone({
    cutQuality: idOf('cutQuality', 'Ideal'),
    polish: idOf('polish', 'Very Good'),
    symmetry: idOf('symmetry', 'Fair'),
  })
  assert.equal(graded, { ...stone(), cutGrade: 'Ideal', polish: 'Very Good', symmetry: 'Fair' })
})

for (const [short, culet] of [
  ['N', 'None'],
  ['VS', 'Very Small'],
  ['S', 'Small'],
  ['SL', 'Slightly Large'],
  ['EL', 'Extremely Large'],
] as const) {
  test(`has the culet size ${culet} for ${short}`, () => assert.is(stone({ culetSize: short }).culet, culet))
}

test('has the girdle as one thickness or as a range from thinnest to thickest', () => {
  assert.equal(stone({ girdle: 'Thin-Medium' }).girdle, ['Thin', 'Medium'])
  assert.equal(stone({ girdle: 'Medium' }).girdle, ['Medium'])
  assert.not.ok('girdle' in stone({ girdle: 'wavy' }))
})

test.run()
