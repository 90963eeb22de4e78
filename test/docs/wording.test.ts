import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { avoidedWords, findAvoidedWords, withoutReleased } from '../../scripts/check-wording/wording.ts'

const found = (text: string, isCode = true) =>
  findAvoidedWords(text, { isCode }).map(({ found, line }) => ({ found, line }))
const [phrase = ''] = avoidedWords.phrases[0]?.avoid ?? []
const [identifier = ''] = avoidedWords.identifiers[0]?.avoid ?? []

const test = suite('the wording check')

for (const { avoid } of avoidedWords.phrases)
  for (const words of avoid)
    test(`finds "${words}"`, () => {
      const used = words.replace('…', 'the next stream')
      assert.equal(found(`First.\n(${used}).`, false), [{ found: used, line: 2 }])
    })

test('finds a phrase that is broken over two lines of a comment', () => {
  const [first, rest] = ['sets', 'the stream aside']
  const whole = `${first} ${rest}`
  assert.equal(found(`/**\n * ${first}\n * ${rest}\n */`), [{ found: whole, line: 2 }])
  assert.equal(found(`// ${first}\n// ${rest}`), [{ found: whole, line: 1 }])
})

test('finds a phrase in any letter case, and not inside a longer word', () => {
  assert.equal(found(phrase.toUpperCase()).length, 1)
  assert.equal(found(`x${phrase}`), [])
  assert.equal(found(`${phrase}x`), [])
})

test('finds a coined identifier only in code and only in its exact case', () => {
  assert.equal(found(`let a: ${identifier}`), [{ found: identifier, line: 1 }])
  assert.equal(found(`let a: ${identifier}`, false), [])
  assert.equal(found(`let a: ${identifier.toLowerCase()}`), [])
})

test('ignores released versions in the changelog', () => {
  const changelog = `# Changelog\n\n## Unreleased\n- new\n\n## 1.0.0\n- old\n`
  assert.equal(withoutReleased(changelog), '# Changelog\n\n## Unreleased\n- new\n\n')
})

test.run()
