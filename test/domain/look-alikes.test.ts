import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import * as fc from '../fast-check.ts'
import { describeLookAlikes, plainText } from '../../src/domain/look-alikes.ts'

const test = suite('characters that look the same')

test('are replaced by Latin letters, digits and hyphens, and named by their code points', () => {
  assert.is(plainText('EN\u20131'), 'EN-1')
  assert.is(plainText('\u0415\u041d\u22121'), 'EH-1')
  assert.is(plainText('\u0391\u0392\u2011\uff11'), 'AB-1')
  assert.is(plainText('\u00c4\u20131'), '\u00c4-1')
  assert.is(describeLookAlikes('EN\u20131'), 'U+2013')
  assert.is(describeLookAlikes('\uff32\uff4f\uff55\uff4e\uff44'), 'U+FF32, U+FF4F, U+FF55, ...')
})

test('are letters of a word in their own alphabet if it has other letters of that alphabet', () => {
  for (const word of [
    '\u0410\u0416-1',
    '\u0440\u0443\u0431\u043b\u044c',
    '\u03b2\u03bf',
    '\u5706\u5f62',
    'Stra\u00dfe',
  ]) {
    assert.is(plainText(word), word, word)
    assert.is(describeLookAlikes(word), '', word)
  }
  assert.is(plainText('\u0416\u20131'), '\u0416-1')
})

test('do not occur in what replaces them', () => {
  const letters = fc.constantFrom(...'ABo1- \u0410\u0416\u043e\u0391\u2013\uff11\u0328\u0308\u0327\ufb01\u00bd')
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(letters, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })) }),
      (text) => {
        assert.is(plainText(plainText(text)), plainText(text))
        assert.is(describeLookAlikes(plainText(text)), '')
      },
    ),
  )
})

test.run()
