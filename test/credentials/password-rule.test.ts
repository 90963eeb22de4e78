import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkPassword } from '../../src/credentials/password-hasher.ts'
import { RequestError } from '../../src/domain/decider.ts'

const test = suite('a password that is set')

const refused = (password: string): string => {
  try {
    checkPassword(password)
  } catch (error) {
    if (error instanceof RequestError && error.kind === 'invalid') return error.message
    throw error
  }
  return 'taken'
}

test('has 8 to 128 characters, however many bytes they take, and at most 72 bytes', () => {
  assert.match(refused(''), 'got 0')
  assert.match(refused('q7!kz2p'), '8 to 128 characters, got 7')
  assert.match(refused('💎'.repeat(7)), 'got 7')
  assert.is(refused('💎'.repeat(8)), 'taken')
  assert.is(refused('x'.repeat(72)), 'taken')
  assert.match(refused('x'.repeat(73)), '72 bytes')
  assert.match(refused('ä'.repeat(37)), '72 bytes')
  assert.match(refused('x'.repeat(129)), 'got 129')
})

test('is none of the 10,000 most common, in any case', () => {
  for (const common of ['password', 'Password1', '12345678', 'qwertyuiop', 'P@ssw0rd', 'iloveyou1']) {
    assert.match(refused(common), '10,000 most common', common)
  }
  assert.is(refused('correct horse'), 'taken')
})

test('is held against a list of just so many', () => {
  const lines = readFileSync(new URL('../../data/common-passwords.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  assert.is(new Set(lines).size, 10_000)
  assert.equal(
    lines.filter((line) => line !== line.toLowerCase()),
    [],
  )
})

test.run()
