import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BadSettings, readSettings } from '../../src/wiring/settings.ts'

const test = suite('CORS_ORIGINS')

const of = (CORS_ORIGINS?: string) => readSettings(CORS_ORIGINS === undefined ? {} : { CORS_ORIGINS }).CORS_ORIGINS

test('is empty by default', () => {
  assert.equal(of(), new Set())
  assert.equal(of(''), new Set())
})

test('can be * for all origins', () => assert.is(of(' * '), '*'))

test('is a list of origins, normalised to the form that browsers send', () => {
  const list = 'https://Shop.Example.com/, http://localhost:3000,https://a.example:443 ,capacitor://localhost,'
  const sent = ['https://shop.example.com', 'http://localhost:3000', 'https://a.example', 'capacitor://localhost']
  assert.equal(of(list), new Set(sent))
})

for (const bad of [
  'shop.example.com',
  'https://a.example/path',
  'https://*.example.com',
  '*,https://a.example',
  'null',
]) {
  test(`cannot be ${bad}, and the message names the valid values`, () => {
    const right = 'CORS_ORIGINS must be * or a comma-separated list of origins'
    assert.throws(
      () => of(bad),
      (error: unknown) => error instanceof BadSettings && error.message.includes(right),
    )
  })
}

test.run()
