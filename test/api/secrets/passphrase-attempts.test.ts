import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { expect, request } from '../harness/request.ts'
import { expectUnknownSecret, form, newSender, post, reveal, shared, shownIn, type Sender } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { parseSecretKeyDigest, secretStream } from '../../../src/credentials/secret-keys.ts'
import { until } from '../../until.ts'

type Given = { service: Service; url: string; ann: Sender; time: { now: number } }
const test = suite<Given>('a secret')
test.before(async (given) => {
  given.time = { now: Date.UTC(2026, 10, 22) }
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => given.time.now })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
})
test.after(({ service }) => service.stop())

/** Makes wrong attempts and advances the clock past every lock. */
async function guess({ url, time }: Given, key: string, tries: number): Promise<void> {
  for (let tried = 0; tried < tries; tried++) {
    if (tried > 0 && tried % 5 === 0) time.now += 31 * 60_000
    expectUnknownSecret(await reveal(url, key, `wrong ${tried}`), key)
  }
}

test('with a passphrase is burned after twenty wrong attempts in total, and its sender is informed', async (given) => {
  const { url, ann, service } = given
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x', passphrase: 'right' })
  await guess(given, secret_key, 20)
  given.time.now += 31 * 60_000
  expectUnknownSecret(await reveal(url, secret_key, 'right'), secret_key)
  const shown = shownIn(await post(url, `private/${metadata_key}`))
  assert.equal([shown.state, shown['failed_attempts'], shown.secret_key], ['burned', 20, ''])
  const page = expect(200, await request(url, { path: `/private/${metadata_key}` })).text
  assert.match(page, /Wrong passphrases<\/dt>\s*<dd>20: the secret was burned unread/)
  const events = await service.installation.store.readStream(secretStream(parseSecretKeyDigest(secret_key) ?? ''))
  assert.equal([events.at(-1)?.type, events.at(-1)?.data['by']], ['SecretBurned', 'guesses'])
  const { vault } = service.installation
  await until(
    'the vault to forget it',
    async () => (await vault.readSecret(parseSecretKeyDigest(secret_key) ?? '')) === undefined,
  )
})

test('with a passphrase is revealed by the right one at the twentieth attempt, and shows nineteen failed ones', async (given) => {
  const { url, ann } = given
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x', passphrase: 'right' })
  await guess(given, secret_key, 19)
  const waiting = shownIn(await post(url, `private/${metadata_key}`))
  assert.equal([waiting.state, waiting['failed_attempts']], ['new', 19])
  assert.match((await request(url, { path: `/private/${metadata_key}` })).text, /19; the secret is burned after 20/)
  assert.is(shownIn(await reveal(url, secret_key, 'right')).value, 'x')
  assert.is(shownIn(await post(url, `private/${metadata_key}`))['failed_attempts'], 19)
})

test('with a passphrase that its recipient burns by the right one shows no failed attempt', async ({ url, ann }) => {
  const { metadata_key } = await shared(url, ann, { secret: 'x', passphrase: 'right' })
  expect(200, await request(url, form(`/api/v1/private/${metadata_key}/burn`, 'passphrase=right')))
  const shown = shownIn(await post(url, `private/${metadata_key}`))
  assert.equal([shown.state, shown['failed_attempts']], ['burned', 0])
  assert.not.match((await request(url, { path: `/private/${metadata_key}` })).text, /Wrong passphrases/)
})

test('without a passphrase has no number of failed attempts', async ({ url, ann }) => {
  assert.not.ok('failed_attempts' in (await shared(url, ann, { secret: 'x' })))
})

test.run()
