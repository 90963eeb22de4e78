import * as fc from '../../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DICTIONARIES, type DictionaryName } from '../../../src/domain/diamond/fields.ts'
import { UnknownEntry } from '../../../src/domain/dictionaries/dictionary.ts'

/** The published table of accepted values: a title, then its aliases. */
const ACCEPTED: Readonly<Record<DictionaryName, readonly string[]>> = {
  color: [...'DEFGHIJKLMNOPQRSTUVWXYZ'],
  clarity: [
    'FL',
    'IF',
    'VVS1',
    'VVS2',
    'VS1',
    'VS2',
    'SI1',
    'SI2',
    'SI3',
    'I1',
    'I2',
    'I3',
    'P1',
    'P2',
    'P3',
    'N',
    'Loupe Clean|LC',
  ],
  cutQuality: ['Ideal|I|ID', 'Excellent|EX|EXC', 'Very Good|VG', 'Good|G', 'Fair|F', 'Poor|P'],
  polish: ['Ideal|I|ID', 'Excellent|EX|X', 'Very Good|VG|V|V. Good|V.G', 'Good|G', 'Fair|F', 'Poor|P'],
  symmetry: ['Ideal|I|ID', 'Excellent|EX|X', 'Very Good|VG|V|V. Good|V.G', 'Good|G', 'Fair|F', 'Poor|P'],
  fluorIntensity: [
    'Very Strong|VS|VST|FL4',
    'Strong|S|STG|ST|FL3',
    'Medium|M|MED|FL2',
    'Faint|F|FNT|Negligible|FA|FL1',
    'None|N|NON|No|NIL|FL0',
  ],
  fluorColor: ['Blue|B|BL', 'White|W|WH', 'Yellow|Y|YL', 'Orange|O|OR', 'Red|R', 'Green|G|BG', 'None|N|NIL|NON'],
  fancyGrade: [
    'Faint|F',
    'Very Light|VL',
    'Light|L',
    'Fancy Light|FCL|FL',
    'Fancy|FC',
    'Fancy Dark|FCD',
    'Fancy Intense|I',
    'Fancy Vivid|FV',
    'Fancy Deep|D|DP|Deep',
  ],
  colorHue: [
    'Black|BK',
    'Blue|B',
    'Brown|BN',
    'Gray|GY|Grey',
    'Green|G',
    'Orange|O',
    'Pink|P',
    'Purple|PL',
    'Red|R',
    'Yellow|Y',
  ],
  colorModifier: [
    'Brownish',
    'Brown',
    'Grayish',
    'Gray',
    'Greenish',
    'Pinkish',
    'Grayish Brownish',
    'Purplish',
    'Yellowish',
    'Orangy',
    'Bluish',
  ],
}

const NAMES = Object.keys(DICTIONARIES) as readonly DictionaryName[]

const titleOf = (name: DictionaryName, text: string) => {
  const id = DICTIONARIES[name].find(text)
  return id === undefined ? undefined : DICTIONARIES[name].title(id)
}

const test = suite('a dictionary')

for (const name of NAMES) {
  test(`finds ${name} by every accepted spelling, in upper and lower case`, () => {
    for (const line of ACCEPTED[name]) {
      const [expected, ...aliases] = line.split('|')
      for (const alias of [expected ?? '', ...aliases]) {
        const spellings = [alias, alias.toLowerCase(), alias.toUpperCase()]
        assert.equal(
          spellings.map((spelling) => titleOf(name, spelling)),
          spellings.map(() => expected),
          alias,
        )
      }
    }
  })

  test(`finds each entry of ${name} by its title in any case`, () => {
    for (const { id, title } of DICTIONARIES[name].all) {
      assert.is(DICTIONARIES[name].find(title), id)
      assert.is(DICTIONARIES[name].find(title.toUpperCase()), id)
      assert.is(DICTIONARIES[name].find(title.toLowerCase()), id)
    }
  })

  test(`has unique ids, titles and short forms of ${name}`, () => {
    const entries = DICTIONARIES[name].all
    assert.is(new Set(entries.map(({ id }) => id)).size, entries.length)
    assert.is(new Set(entries.map(({ title }) => title)).size, entries.length)
    assert.is(new Set(entries.map(({ short }) => short)).size, entries.length)
    for (const entry of entries) {
      assert.ok(DICTIONARIES[name].has(entry.id))
      assert.equal([DICTIONARIES[name].title(entry.id), DICTIONARIES[name].short(entry.id)], [entry.title, entry.short])
    }
  })
}

test('finds each entry by its short form, except Green-Yellow, whose GY is an alias of Gray', () => {
  const mismatches = NAMES.flatMap((name) =>
    DICTIONARIES[name].all.flatMap(({ id, short }) =>
      DICTIONARIES[name].find(short) === id ? [] : [`${name} ${short}`],
    ),
  )
  assert.equal(mismatches, ['colorHue GY'])
})

test('finds each entry by its short form in any case, except GY and short forms that differ only in case', () => {
  const mismatches = NAMES.flatMap((name) =>
    DICTIONARIES[name].all.flatMap(({ id, short }) =>
      [short.toLowerCase(), short.toUpperCase()].some((text) => DICTIONARIES[name].find(text) !== id)
        ? [`${name} ${short}`]
        : [],
    ),
  )
  assert.equal(mismatches, ['colorHue GY', 'colorModifier Br', 'colorModifier Gr'])
})

test('prefers an exact short form, then an alias, then a short form in another case', () => {
  assert.is(titleOf('colorModifier', 'br'), 'Brownish')
  assert.is(titleOf('colorModifier', 'Br'), 'Brown')
  assert.is(titleOf('colorModifier', 'BR'), 'Brownish')
  assert.is(titleOf('colorHue', 'GY'), 'Gray')
  assert.is(titleOf('colorHue', 'gy'), 'Gray')
  assert.is(titleOf('colorHue', 'Green-Yellow'), 'Green-Yellow')
  assert.is(titleOf('fancyGrade', 'F'), 'Faint')
  assert.is(titleOf('fancyGrade', 'FL'), 'Fancy Light')
  assert.is(titleOf('clarity', 'fl'), 'FL')
})

test('has the letters D to Z as colors, and no other letter', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].filter((letter) => DICTIONARIES.color.find(letter) !== undefined)
  assert.is(letters.join(''), 'DEFGHIJKLMNOPQRSTUVWXYZ')
})

test('finds a fancy grade by its abbreviation', () => {
  assert.is(titleOf('fancyGrade', 'FT'), 'Faint')
})

test('finds no entry for unknown text', () => {
  for (const text of ['', ' ', 'Superb', '1', 'constructor', '__proto__']) {
    for (const name of NAMES) assert.is(DICTIONARIES[name].find(text), undefined, `${name} ${text}`)
  }
})

test('returns a valid id or undefined for any text', () => {
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), fc.anyText(), (name, text) => {
      const id = DICTIONARIES[name].find(text)
      return id === undefined || DICTIONARIES[name].has(id)
    }),
  )
})

test('throws an error with the id for an unknown id', () => {
  assert.not(DICTIONARIES.polish.has(0))
  assert.not(DICTIONARIES.polish.has(6))
  assert.not(DICTIONARIES.colorHue.has(1.5))
  for (const text of ['title', 'short'] as const) {
    assert.throws(
      () => DICTIONARIES.colorHue[text](999),
      (error: unknown) => error instanceof UnknownEntry && error.message === 'the dictionary colorHue has no id 999',
    )
  }
})

const GRADES = ['clarity', 'color', 'cutQuality', 'polish', 'symmetry', 'fluorIntensity'] as const

for (const name of GRADES) {
  test(`finds the lower of two grades of ${name}, in any order and with any separator`, () => {
    const { entries, find, findRange, title } = DICTIONARIES[name]
    const grade = fc.constantFrom(...entries)
    const joint = fc.constantFrom('-', ' - ', '/', ' to ', '–')
    fc.assert(
      fc.property(grade, grade, joint, (one, other, between) => {
        fc.pre(one !== other)
        const [better, lower] = one.position < other.position ? [one, other] : [other, one]
        for (const text of [`${one.title}${between}${other.title}`, `${other.title}${between}${one.title} Range`]) {
          assert.is(title(find(text) ?? 0), lower.title, text)
          assert.equal(findRange(text), [better, lower], text)
        }
      }),
    )
  })
}

test('finds a grade followed by a sign, and no grade for three grades or none', () => {
  assert.equal(
    ['EX+', 'VG-', 'ex +'].map((text) => titleOf('polish', text)),
    ['Excellent', 'Very Good', 'Excellent'],
  )
  for (const text of ['EX-VG-G', '-', '+', 'EX-huge', 'to']) assert.is(titleOf('polish', text), undefined, text)
})

test('does not parse a range of hues, because their names contain hyphens', () => {
  assert.is(DICTIONARIES.colorHue.findRange('Yellow-Blue'), undefined)
  assert.is(titleOf('colorHue', 'Green-Yellow'), 'Green-Yellow')
})

test.run()
