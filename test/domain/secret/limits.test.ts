import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/domain/request-error.ts'
import { checkRecipient, obfuscateEmail } from '../../../src/domain/secret/email-address.ts'
import { checkSecret, generateSecretValue, effectiveTtl } from '../../../src/domain/secret/secret.ts'
import { randomFor } from '../../seeded.ts'

const refuses = (kind: string) => (error: unknown) => error instanceof RequestError && error.kind === kind
const test = suite('a shared secret')

test('has at most as many code points as the plan allows', () => {
  for (const [plan, limit] of [
    ['basic', 1000],
    ['standard', 5000],
    ['pro', 10_000],
  ] as const) {
    checkSecret('💎'.repeat(limit), plan)
    assert.throws(() => checkSecret('💎'.repeat(limit) + 'x', plan), refuses('too-large'))
    assert.throws(() => checkSecret('x'.repeat(limit + 1), plan), refuses('too-large'))
  }
})

test('has at least one character', () => {
  assert.throws(() => checkSecret('', 'pro'), 'You did not provide anything to share')
  checkSecret(' ', 'basic')
})

test('has a lifetime of 7 days by default, at least 60 seconds and at most 30 days', () => {
  assert.equal(
    [undefined, 0, 1, 60, 61, 2_592_000, 2_592_001, Infinity].map(effectiveTtl),
    [604_800, 604_800, 60, 60, 61, 2_592_000, 2_592_000, 2_592_000],
  )
})

test('has a masked recipient: at most two characters of the name, one of the domain, and the top-level domain', () => {
  assert.is(obfuscateEmail('tom@myspace.com'), 'to*****@m*****.com')
  assert.is(obfuscateEmail('ab@x.io'), 'a*****@*****.io')
  assert.is(obfuscateEmail('a@b'), '*****@*****')
  assert.is(obfuscateEmail('user@example.museum'), 'us*****@e*****.museum')
})

test('is sent to one well-formed address', () => {
  for (const right of ['a@b', 'tom+tag@mail.example.co.uk', "o'hara@example.com", 'jörg@bücher.example'])
    checkRecipient(right)
  for (const wrong of ['', 'a', '@b', 'a@', 'a@b@', 'a b@c', 'a@b,c@d', 'A <a@b>', 'a@b\r\nBcc: c@d', 'a@b..c', 'a@b.'])
    assert.throws(() => checkRecipient(wrong), refuses('invalid'), wrong)
})

test('that is generated has 12 characters, one of each class, and no ambiguous ones', () => {
  const random = randomFor('generated secrets')
  for (let round = 0; round < 500; round++) {
    const value = generateSecretValue((limit) => random.below(limit))
    assert.match(value, /^[^ilo1IO0]{12}$/)
    for (const one of [/[a-z]/, /[A-Z]/, /[2-9]/, /[^a-zA-Z0-9]/]) assert.match(value, one)
  }
})

test.run()
