import * as assert from 'uvu/assert'
import { isForSecrets, longestRequests, marks } from './harness/longest-requests.ts'
import { newSender, reveal, shared } from './harness/secrets.ts'
import { expect } from './harness/request.ts'
import { apiSuite } from './harness/service.ts'

// How long each holds up others is measured by `npm run bench -- --longest-block`.

const test = apiSuite('a request of the longest kind')

for (const [name, status, request] of longestRequests) {
  test(`is answered ${status}: ${name}`, async ({ ann, service }) => {
    const wanted = request()
    if (!isForSecrets(wanted)) return void expect(status, await ann.send(wanted))
    const { authorization } = await newSender(service.installation)
    expect(status, await service.send({ ...wanted, headers: { Authorization: authorization, ...wanted.headers } }))
  })
}

test('leaves the secret to who has its passphrase: a passphrase of marks', async ({ service }) => {
  const sender = await newSender(service.installation)
  const { secret_key } = await shared(service.url, sender, { secret: 'it', passphrase: 'sesame' })
  assert.is((await reveal(service.url, secret_key, marks(20_000))).status, 404)
  assert.is((await reveal(service.url, secret_key, 'sesame')).status, 200)
})

test.run()
