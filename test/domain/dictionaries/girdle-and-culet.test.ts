import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  culetSizes,
  girdleGrades,
  parseGirdleRange,
  parseCuletSize,
  parseGirdle,
} from '../../../src/domain/dictionaries/girdle-and-culet.ts'

/** The published table of accepted values. */
const GIRDLES = [
  'Extremely Thick|XTK|EXTHICK|EXTHK|XTHK|XTHICK|XTHIK|ETK|EK|XK',
  'Very Thick|VTK|VTHCK|VTHK|VTHICK',
  'Thick|TK|THK|THIK|THIC',
  'Slightly Thick|STK|SLTK|SLTHK',
  'Medium|M|MED|MD',
  'Thin|TN|THN',
  'Very Thin|VTN|VTHN|VTHIN|VN',
  'Extremely Thin|XTN|XTHN|EXTN|ETN|EN|XN',
].map((line) => line.split('|'))

const CULETS = [
  'EL|Extremely Large',
  'VL|Very Large',
  'L|Large',
  'SL|Slightly Large',
  'M|Medium',
  'S|Small',
  'VS|Very Small',
  'N|None',
].map((line) => line.split('|'))

const test = suite('a girdle')

test('is parsed from every accepted spelling, also in lower case, into its title', () => {
  for (const [title, ...aliases] of GIRDLES) {
    for (const spelling of [title ?? '', ...aliases]) {
      assert.is(parseGirdle(spelling), title, spelling)
      assert.is(parseGirdle(spelling.toLowerCase()), title, spelling)
    }
  }
})

test('can be a range of any two spellings, which becomes their titles with a hyphen', () => {
  assert.is(parseGirdle('thn-thk'), 'Thin-Thick')
  assert.is(parseGirdle('Thin-Medium'), 'Thin-Medium')
  assert.is(parseGirdle('EN-STK'), 'Extremely Thin-Slightly Thick')
  assert.is(parseGirdle('Extremely Thin - Very Thick'), 'Extremely Thin-Very Thick')
})

test('is parsed from a report that also states percentage and finish', () => {
  assert.is(parseGirdle('Medium to Slightly Thick'), 'Medium-Slightly Thick')
  assert.is(parseGirdle('Slightly Thick to Thick, Faceted'), 'Slightly Thick-Thick')
  assert.is(parseGirdle('Medium (Faceted) 3.5%'), 'Medium')
  assert.is(parseGirdle('THN – MED, polished'), 'Thin-Medium')
  assert.is(parseGirdle('STN/STK'), 'Thin-Slightly Thick')
})

test('has the thin end of its range first', () => {
  assert.is(parseGirdle('Thick-Thin'), 'Thin-Thick')
})

test('whose range has equal ends becomes one grade', () => {
  assert.is(parseGirdle('med-Medium'), 'Medium')
  assert.equal(parseGirdleRange('Medium'), ['Medium', 'Medium'])
})

test('is unknown if either end is unknown or there are more than two', () => {
  for (const text of ['', '-', 'Thin-', '-Thin', 'Thin-Wide', 'Thin-Medium-Thick', 'Thin Medium', 'Thin--Thick']) {
    assert.is(parseGirdle(text), undefined, text)
  }
})

test('is parsed to itself in its stored form', () => {
  const grade = fc.constantFrom(...girdleGrades)
  fc.assert(
    fc.property(grade, grade, (from, to) => {
      const stored = parseGirdle(`${from}-${to}`)
      return stored !== undefined && parseGirdle(stored) === stored
    }),
  )
})

test('has eight grades from the thinnest to the thickest', () => {
  assert.equal(girdleGrades, GIRDLES.map(([title]) => title).reverse())
})

test.run()

const culet = suite('a culet size')

culet('is parsed from its title or short form, also in lower case, into the short form', () => {
  for (const [short, title] of CULETS) {
    for (const spelling of [short ?? '', title ?? '']) {
      assert.is(parseCuletSize(spelling), short)
      assert.is(parseCuletSize(spelling.toLowerCase()), short)
    }
  }
})

culet('is unknown for any other text', () => {
  for (const text of ['', 'X', 'Huge', 'N-S']) assert.is(parseCuletSize(text), undefined, text)
})

culet('has eight grades from none to the largest', () => {
  assert.equal(culetSizes, CULETS.map(([short]) => short).reverse())
})

culet.run()
