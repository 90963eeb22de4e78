import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { checkAddresses, parseInstallationAddress } from '../../src/cli/installation-address.ts'

const test = suite('the address of an installation')
const parse = (text: string, env: Record<string, string> = {}) => parseInstallationAddress('--from', text, env)

test('is a folder, or an event store together with read models or a folder', () => {
  const { eventStore, readModels, folder } = parse('sqlite:/srv/a')
  assert.equal([eventStore, readModels, folder], ['sqlite:/srv/a', 'sqlite:/srv/a', '/srv/a'])
  const both = parse('esdb://a:2113,b:2113?tls=false,mongodb://c,d/adamant?replicaSet=r')
  assert.equal(
    [both.eventStore, both.readModels],
    ['esdb://a:2113,b:2113?tls=false', 'mongodb://c,d/adamant?replicaSet=r'],
  )
  assert.is(both.folder, undefined)
  assert.is(parse('esdb+discover://a:2113,sqlite:/srv/a').folder, '/srv/a')
})

test('may come from the environment, and is shown without a password', () => {
  const named = 'esdb://admin:changeit@a:2113,mongodb://me:secret@b/adamant'
  assert.is(parse('env:TARGET', { TARGET: named }).redactedText, 'esdb://a:2113,mongodb://b/adamant')
  assert.throws(() => parse('env:TARGET'), /the environment variable is not set/)
})

for (const bad of ['', 'data', 'sqlite:', 'mongodb://a/b,esdb://a', 'sqlite:a,sqlite:b', 'esdb://a,sqlite:']) {
  test(`cannot be '${bad}'`, () => {
    assert.throws(() => parse(bad), /not a valid address/)
  })
}

test('must differ from the address of the other installation', () => {
  for (const [from, to] of [
    ['sqlite:/srv/a', 'sqlite:/srv/../srv/a'],
    ['esdb://a,sqlite:/srv/a', 'esdb://a,mongodb://b/c'],
    ['sqlite:/srv/a', 'esdb://a,sqlite:/srv/a'],
  ] as const) {
    assert.throws(() => checkAddresses(parse(from), parse(to)), /--from and --to/)
  }
})

test.run()
