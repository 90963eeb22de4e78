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

/** The platform's table of accepted values. */
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

test('is known by every accepted spelling, in small letters too, and kept as its title', () => {
  for (const [title, ...aliases] of GIRDLES) {
    for (const spelling of [title ?? '', ...aliases]) {
      assert.is(parseGirdle(spelling), title, spelling)
      assert.is(parseGirdle(spelling.toLowerCase()), title, spelling)
    }
  }
})

test('may be a range of any two spellings, kept as their titles with a hyphen', () => {
  assert.is(parseGirdle('thn-thk'), 'Thin-Thick')
  assert.is(parseGirdle('Thin-Medium'), 'Thin-Medium')
  assert.is(parseGirdle('EN-STK'), 'Extremely Thin-Slightly Thick')
  assert.is(parseGirdle('Extremely Thin - Very Thick'), 'Extremely Thin-Very Thick')
})

test('is what a report says beside percent and finish', () => {
  assert.is(parseGirdle('Medium to Slightly Thick'), 'Medium-Slightly Thick')
  assert.is(parseGirdle('Slightly Thick to Thick, Faceted'), 'Slightly Thick-Thick')
  assert.is(parseGirdle('Medium (Faceted) 3.5%'), 'Medium')
  assert.is(parseGirdle('THN – MED, polished'), 'Thin-Medium')
  assert.is(parseGirdle('STN/STK'), 'Thin-Slightly Thick')
})

test('has its thin end first, however the range was written', () => {
  assert.is(parseGirdle('Thick-Thin'), 'Thin-Thick')
})

test('whose range has equal ends is of one grade', () => {
  assert.is(parseGirdle('med-Medium'), 'Medium')
  assert.equal(parseGirdleRange('Medium'), ['Medium', 'Medium'])
})

test('is unknown when either end is, or when there are more than two', () => {
  for (const text of ['', '-', 'Thin-', '-Thin', 'Thin-Wide', 'Thin-Medium-Thick', 'Thin Medium', 'Thin--Thick']) {
    assert.is(parseGirdle(text), undefined, text)
  }
})

test('reads back as it was kept', () => {
  const grade = fc.constantFrom(...girdleGrades)
  fc.assert(
    fc.property(grade, grade, (from, to) => {
      const kept = parseGirdle(`${from}-${to}`)
      return kept !== undefined && parseGirdle(kept) === kept
    }),
  )
})

test('has eight grades from the thinnest to the thickest', () => {
  assert.equal(girdleGrades, GIRDLES.map(([title]) => title).reverse())
})

test.run()

const culet = suite('a culet size')

culet('is known by its title and its short form, in small letters too, and kept as the short form', () => {
  for (const [short, title] of CULETS) {
    for (const spelling of [short ?? '', title ?? '']) {
      assert.is(parseCuletSize(spelling), short)
      assert.is(parseCuletSize(spelling.toLowerCase()), short)
    }
  }
})

culet('is unknown by anything else', () => {
  for (const text of ['', 'X', 'Huge', 'N-S']) assert.is(parseCuletSize(text), undefined, text)
})

culet('has eight grades from none to the largest', () => {
  assert.equal(culetSizes, CULETS.map(([short]) => short).reverse())
})

culet.run()
