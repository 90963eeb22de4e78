import * as assert from 'uvu/assert'
import { isForSecrets, longestRequests, marks } from './harness/longest-requests.ts'
import { newSender, reveal, shared } from './harness/secrets.ts'
import { expect } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'

// `npm run bench -- --longest-block` measures how long each of them delays other requests.

const test = apiSuite('an expensive request')

for (const [name, status, request] of longestRequests) {
  test(`returns ${status}: ${name}`, async ({ ann, service }) => {
    const wanted = request()
    if (!isForSecrets(wanted)) return void expect(status, await ann.send(wanted))
    const { authorization } = await newSender(service.installation)
    expect(status, await service.send({ ...wanted, headers: { Authorization: authorization, ...wanted.headers } }))
  })
}

test('with a passphrase of combining marks does not lock out the right passphrase', async ({ service }) => {
  const sender = await newSender(service.installation)
  const { secret_key } = await shared(service.url, sender, { secret: 'it', passphrase: 'sesame' })
  assert.is((await reveal(service.url, secret_key, marks(20_000))).status, 404)
  assert.is((await reveal(service.url, secret_key, 'sesame')).status, 200)
})

test.run()
