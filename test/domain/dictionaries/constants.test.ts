import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { constants, scoringVersions } from '../../../src/domain/dictionaries/constants.ts'

const { ver, dict, scoring } = constants('4.1.0')
const { cutShape: _cutShape, ...lists } = dict

/** Published entries of the dictionaries: id title (short, position). */
const PUBLISHED: Readonly<Record<Exclude<keyof typeof dict, 'cutShape'>, readonly string[]>> = {
  color: ['15 D (D,10)', '16 E (E,20)', '17 F (F,30)', '18 G (G,40)'],
  clarity: ['1 FL (FL,10)', '2 IF (IF,20)', '3 VVS1 (VVS1,30)', '4 VVS2 (VVS2,40)', '5 VS1 (VS1,50)', '6 VS2 (VS2,60)'],
  cutQuality: ['10 Ideal (ID,5)', '1 Excellent (EX,10)', '2 Very Good (VG,20)'],
  polish: ['10 Ideal (ID,5)', '1 Excellent (EX,10)', '2 Very Good (VG,20)'],
  symmetry: ['10 Ideal (ID,5)', '1 Excellent (EX,10)', '2 Very Good (VG,20)'],
  fluorIntensity: ['1 None (NON,10)', '2 Faint (FNT,20)'],
  fluorColor: ['7 None (N,0)', '1 Blue (B,10)'],
  fancyGrade: ['8 Faint (Faint,10)', '9 Very Light (V.Light,20)'],
  colorHue: ['11 Yellow (Y,10)', '20 Red (R,40)', '22 Black (Bk,90)', '23 Gray (Gr,100)'],
  colorModifier: ['1 Brownish (br,10)', '3 Brown (Br,20)'],
}

type Line = { id: number; title: string; short: string; position: number }
const line = ({ id, title, short, position }: Line) => `${id} ${title} (${short},${position})`

const test = suite('the constants')

test('have the documented members in the documented order', () => {
  assert.equal(Object.keys(constants('4.1.0')), ['ver', 'dict', 'scoring'])
  assert.is(ver, '4.1.0')
  assert.equal(Object.keys(dict), [
    'cutShape',
    'color',
    'clarity',
    'cutQuality',
    'polish',
    'symmetry',
    'fluorIntensity',
    'fluorColor',
    'fancyGrade',
    'colorHue',
    'colorModifier',
  ])
  assert.equal(Object.keys(scoring), ['fluorescence', 'fire', 'brightness', 'symmetry', 'integral'])
})

test('have every published entry', () => {
  for (const [name, published] of Object.entries(PUBLISHED)) {
    const lines = Object.entries(lists).flatMap(([list, entries]) => (list === name ? entries.map(line) : []))
    for (const entry of published) assert.ok(lines.includes(entry), `${name} ${entry}`)
  }
})

test('have the published children of hues, and none for other hues', () => {
  const children = (id: number) => dict.colorHue.find((hue) => hue.id === id)?.children.map(line) ?? ['no such hue']
  assert.ok(children(11).includes('30 Green-Yellow (GY,8)'))
  assert.ok(children(23).includes('24 White (W,116)'))
  assert.ok(children(23).includes('56 Yellow-Gray (YGr,111)'))
  assert.equal(children(20), [])
  assert.equal(children(22), [])
})

test('have the published abbreviations of fancy grades', () => {
  assert.equal(
    dict.fancyGrade.slice(0, 2).map(({ abbreviation }) => abbreviation),
    ['FT', 'VL'],
  )
})

test('have entries with the documented members in order', () => {
  for (const shape of dict.cutShape) assert.equal(Object.keys(shape), ['id', 'title'])
  const flat = ['id', 'title', 'short', 'position']
  for (const [name, entries] of Object.entries(lists)) {
    for (const entry of entries) {
      if (name === 'fancyGrade') assert.equal(Object.keys(entry), ['id', 'title', 'short', 'abbreviation', 'position'])
      else assert.equal(Object.keys(entry), name === 'colorHue' ? [...flat, 'children'] : flat)
    }
  }
  for (const child of dict.colorHue.flatMap(({ children }) => children)) assert.equal(Object.keys(child), flat)
})

test('have lists in ascending order of position and unique ids, including children', () => {
  for (const entries of [...Object.values(lists), ...dict.colorHue.map(({ children }) => children)]) {
    const positions = entries.map(({ position }) => position)
    assert.equal(
      positions,
      [...new Set(positions)].sort((a, b) => a - b),
    )
    assert.ok(entries.every(({ id, position }) => Number.isInteger(id) && Number.isInteger(position)))
  }
  const hues = dict.colorHue.flatMap((hue) => [hue.id, ...hue.children.map(({ id }) => id)])
  assert.is(new Set(hues).size, hues.length)
})

test('have complete scales', () => {
  const titles = (list: readonly { title: string }[]) => list.map(({ title }) => title).join(' ')
  assert.is(titles(dict.color), 'D E F G H I J K L M N O P Q R S T U V W X Y Z')
  assert.is(titles(dict.clarity), 'FL Loupe Clean IF VVS1 VVS2 VS1 VS2 SI1 SI2 SI3 I1 I2 I3 P1 P2 P3 N')
  assert.is(titles(dict.polish), 'Ideal Excellent Very Good Good Fair Poor')
  assert.is(titles(dict.fluorIntensity), 'None Faint Medium Strong Very Strong')
  assert.is(titles(dict.fluorColor), 'None Blue White Yellow Orange Red Green')
  assert.is(titles(dict.colorHue), 'Yellow Orange Brown Red Pink Purple Blue Green Black Gray')
})

test('have the grade boundaries and the version of each score', () => {
  const { fluorescence, ...scales } = scoring
  assert.equal(fluorescence, { ver: scoringVersions.fluorescence })
  assert.equal(
    Object.entries(scales).map(([name, { grades }]) => [name, ...grades]),
    [
      ['fire', 0.3, 0.5, 0.7, 0.85, 1, 1.3],
      ['brightness', 0.5, 0.7, 0.85, 0.95, 1.03, 1.3],
      ['symmetry', 2, 4, 6, 7, 8, 9],
      ['integral', 0.51, 0.69, 0.83, 0.93, 1.02, 1.27],
    ],
  )
  for (const scale of Object.values(scales)) assert.equal(Object.keys(scale), ['grades', 'ver'])
  assert.equal(
    [scales.fire.ver, scales.brightness.ver, scales.symmetry.ver, scales.integral.ver],
    [scoringVersions.fire, scoringVersions.brightness, scoringVersions.symmetry, scoringVersions.integral],
  )
})

test.run()
