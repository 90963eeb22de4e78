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

test('is rejected if it lacks a grade or a hue or has another word', () => {
  for (const text of ['', 'Fancy', 'Yellow', 'G', 'Fancy B', 'Fancy Nice Yellow', 'Light', 'Fancy Yellow maybe'])
    assert.is(parseFancyColor(text), undefined, text)
})

test.run()
