import * as assert from 'uvu/assert'
import { isForSecrets, longestRequests, combiningMarks } from './harness/longest-requests.ts'
import { newSender, reveal, shared } from './harness/secrets.ts'
import { expect } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'

// `npm run bench -- --longest-block` measures how long each of them delays other requests.

const test = apiSuite('an expensive request')

for (const [name, status, request] of longestRequests) {
  test(`returns ${status}: ${name}`, async ({ ann, service }) => {
    const options = request()
    if (!isForSecrets(options)) return void expect(status, await ann.send(options))
    const { authorization } = await newSender(service.installation)
    expect(status, await service.send({ ...options, headers: { Authorization: authorization, ...options.headers } }))
  })
}

test('with a passphrase of combining marks does not lock out the right passphrase', async ({ service }) => {
  const sender = await newSender(service.installation)
  const { secret_key } = await shared(service.url, sender, { secret: 'it', passphrase: 'sesame' })
  assert.is((await reveal(service.url, secret_key, combiningMarks(20_000))).status, 404)
  assert.is((await reveal(service.url, secret_key, 'sesame')).status, 200)
})

test.run()
