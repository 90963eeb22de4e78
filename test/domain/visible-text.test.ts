import * as fc from '../fast-check.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { comparisonKey, visibleText } from '../../src/domain/visible-text.ts'

const test = suite('the visible form of a text')

for (const [name, written, seen] of [
  ['a zero-width blank', '\u200bA7\u200b', 'A7'],
  ['a byte order mark', '\ufeffA7', 'A7'],
  ['a soft hyphen', 'VS\u00ad1', 'VS1'],
  ['marks of direction', '\u202aA7\u202c\u200e', 'A7'],
  ['a word joiner', 'A\u20607', 'A7'],
  ['a joiner between Latin letters', 'A\u200dB\u200c', 'AB'],
  ['a variation selector behind a digit', '7\ufe0f', '7'],
  ['a Hangul filler', '\u3164A', 'A'],
  ['a no-break space', 'Very\u00a0Good', 'Very Good'],
  ['a narrow no-break space', 'A\u202f7', 'A 7'],
  ['an ideographic space at the ends', '\u3000B\u3000', 'B'],
  ['a letter with a combining mark', 'e\u0301', '\u00e9'],
] as const) {
  test(`with ${name} is ${seen}`, () => assert.is(visibleText(written), seen))
}

for (const [name, text] of [
  ['a family of emoji', '👩‍👩‍👧'],
  ['an astronaut with a skin tone', '👩🏽‍🚀'],
  ['the flag of England', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['a heart with a variation selector', '❤️'],
  ['a Persian word with a non-joiner', 'می\u200cخواهم'],
  ['two blanks between letters', 'A  7'],
  ['a line feed', 'A\nB'],
] as const) {
  test(`with ${name} is the text itself`, () => assert.is(visibleText(text), text))
}

test('does not change when it is computed again', () => {
  fc.assert(
    fc.property(fc.anyText({ maxLength: 40 }), (text) => {
      assert.is(visibleText(visibleText(text)), visibleText(text))
      assert.is(comparisonKey(comparisonKey(text)), comparisonKey(text))
    }),
  )
})

test('is compared ignoring case and repeated white space', () => {
  assert.is(comparisonKey(' Very \u00a0 GOOD\t'), 'very good')
})

test('of a very long text is the text itself', () => {
  const long = `${'\u200b'.repeat(4_001)}`
  assert.is(visibleText(long), long)
})

test.run()
