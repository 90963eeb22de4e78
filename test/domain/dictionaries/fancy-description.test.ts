import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import * as fc from '../../fast-check.ts'
import { colorHue, colorModifier, fancyGrade, parseFancyColor } from '../../../src/domain/dictionaries/colors.ts'

const test = suite('the description of a fancy colour')

test('is parsed into grade, optional modifier and hue', () => {
  const [grade, hue] = [fc.constantFrom(...fancyGrade.all), fc.constantFrom(...colorHue.all)]
  const modifier = fc.option(fc.constantFrom(...colorModifier.all), { nil: undefined })
  fc.assert(
    fc.property(grade, modifier, hue, (strength, tint, { title }) => {
      const text = [strength.title, tint?.title, title].filter((word) => word !== undefined).join(' ')
      const named = { fancyGrade: strength.title, ...(tint && { colorModifier: tint.title }), colorHue: title }
      assert.equal(parseFancyColor(text), named, text)
      assert.equal(parseFancyColor(`NATURAL ${text.toUpperCase()}, even`), named, text)
    }),
  )
})

test('may name the grade as trade lists do', () => {
  for (const [text, grade] of [
    ['Vivid Yellow', 'Fancy Vivid'],
    ['Intense Yellow', 'Fancy Intense'],
    ['FI Yellow', 'Fancy Intense'],
    ['F.Light Yellow', 'Fancy Light'],
    ['Fancy-Deep Yellow', 'Fancy Deep'],
    ['Light Yellow', 'Light'],
  ] as const)
    assert.equal(parseFancyColor(text), { fancyGrade: grade, colorHue: 'Yellow' }, text)
  for (const text of ['I Yellow', 'FD Yellow', 'FY Yellow']) assert.is(parseFancyColor(text), undefined, text)
})

test('has grades with the spellings of trade lists', () => {
  const spellings = {
    'Fancy Light': ['FL', 'FCL', 'Fancy-Light', 'FancyLight'],
    'Fancy Dark': ['FCD', 'FDK', 'Dark'],
    'Fancy Intense': ['I', 'FI', 'FCI', 'Int', 'Intense', 'FANCY-INTENSE', 'Fancy_Intense'],
    'Fancy Vivid': ['V', 'FV', 'FCV', 'Vivid', 'Fancy.Vivid'],
    'Fancy Deep': ['D', 'DP', 'Deep', 'FDP', 'FDeep'],
  }
  for (const [title, others] of Object.entries(spellings))
    for (const other of others) assert.is(fancyGrade.title(fancyGrade.find(other) ?? 0), title, other)
  for (const ambiguous of ['FD', 'FY']) assert.is(fancyGrade.find(ambiguous), undefined, ambiguous)
})

test('is rejected if it lacks a grade or a hue or has another word', () => {
  for (const text of ['', 'Fancy', 'Yellow', 'G', 'Fancy B', 'Fancy Nice Yellow', 'Light', 'Fancy Yellow maybe'])
    assert.is(parseFancyColor(text), undefined, text)
})

test.run()
