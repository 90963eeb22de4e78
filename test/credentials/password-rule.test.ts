import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkPassword } from '../../src/credentials/password-hasher.ts'
import { RequestError } from '../../src/domain/request-error.ts'

const test = suite('a new password')

const refused = (password: string): string => {
  try {
    checkPassword(password)
  } catch (error) {
    if (error instanceof RequestError && error.kind === 'invalid') return error.message
    throw error
  }
  return 'taken'
}

test('has 8 to 128 characters and at most 72 bytes', () => {
  assert.match(refused(''), 'got 0')
  assert.match(refused('q7!kz2p'), '8 to 128 characters, got 7')
  assert.match(refused('💎'.repeat(7)), 'got 7')
  assert.is(refused('💎'.repeat(8)), 'taken')
  assert.is(refused('x'.repeat(72)), 'taken')
  assert.match(refused('x'.repeat(73)), '72 bytes')
  assert.match(refused('ä'.repeat(37)), '72 bytes')
  assert.match(refused('x'.repeat(129)), 'got 129')
})

test('is not one of the 10,000 most common, ignoring case', () => {
  for (const common of ['password', 'Password1', '12345678', 'qwertyuiop', 'P@ssw0rd', 'iloveyou1']) {
    assert.match(refused(common), '10,000 most common', common)
  }
  assert.is(refused('correct horse'), 'taken')
})

test('is compared with a list of exactly 10,000 passwords in lower case', () => {
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
