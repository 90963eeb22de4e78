import { suite } from 'uvu'
import type { Endpoint } from '../../../src/http/kit/endpoint.ts'
import { burnSecret, listRecentSecrets, readSecretRecord } from '../../../src/http/secrets/records.ts'
import {
  checkApiToken,
  generateSecret,
  revealSecret,
  secretsStatus,
  shareSecret,
} from '../../../src/http/secrets/secrets.ts'
import { expectDeclaredBody } from '../harness/declared-responses.ts'
import { request, type ApiResponse, type Request } from '../harness/request.ts'
import { form, newSender, post, reveal, shared, type Sender } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'

type Given = { service: Service; url: string; pro: Sender; time: { now: number } }
const test = suite<Given>('a response of the secrets API matches its declared schema')
test.before(async (given) => {
  given.time = { now: Date.UTC(2026, 10, 22) }
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => given.time.now })
  given.url = given.service.url
  given.pro = await newSender(given.service.installation, 'pro')
})
test.after(({ service }) => service.stop())

const expectDeclared = (endpoint: Pick<Endpoint, 'operationId' | 'responses'>, { status, json }: ApiResponse) =>
  expectDeclaredBody(endpoint, status, json())

test('when a secret is shared or generated', async ({ url, pro }) => {
  const options = 'ttl=60&passphrase=p&recipient[]=tom@example.com&recipient[]=bo@x.io&notify=1'
  for (const body of ['', options]) {
    expectDeclared(shareSecret, await request(url, form('/api/v1/create', `secret=x&${body}`, pro.authorization)))
    expectDeclared(generateSecret, await request(url, form('/api/v1/generate', body, pro.authorization)))
  }
})

test('when a secret is read, and when it is unknown', async ({ url, pro }) => {
  const { secret_key } = await shared(url, pro, { secret: 'x' })
  expectDeclared(revealSecret, await reveal(url, secret_key))
  expectDeclared(revealSecret, await reveal(url, secret_key))
  expectDeclared(readSecretRecord, await post(url, `private/${secret_key}`))
  expectDeclared(burnSecret, await post(url, `private/${secret_key}/burn`))
})

test('when the record of a secret is read, in each of its states', async ({ url, pro, time }) => {
  const record = async (key: string) => expectDeclared(readSecretRecord, await post(url, `private/${key}`))
  const waiting = await shared(url, pro, { secret: 'x', ttl: '60', passphrase: 'p' })
  await record(waiting.metadata_key)
  await reveal(url, waiting.secret_key, 'wrong')
  await record(waiting.metadata_key)
  const received = await shared(url, pro, { secret: 'x' })
  await reveal(url, received.secret_key)
  await record(received.metadata_key)
  const burned = await shared(url, pro, { secret: 'x', passphrase: 'p' })
  const headers = { Authorization: pro.authorization }
  expectDeclared(burnSecret, await post(url, `private/${burned.metadata_key}/burn`, headers))
  await record(burned.metadata_key)
  time.now += 60_000
  await record(waiting.metadata_key)
})

test('when secrets are listed, and for the status endpoints', async ({ url, pro }) => {
  const authorized = (path: string): Request => ({
    path: `/api/v1/${path}`,
    headers: { Authorization: pro.authorization },
  })
  await shared(url, pro, { secret: 'x', recipient: 'tom@example.com' })
  expectDeclared(listRecentSecrets, await request(url, authorized('private/recent')))
  expectDeclared(secretsStatus, await request(url, authorized('status')))
  expectDeclared(checkApiToken, await request(url, authorized('authcheck')))
})

test.run()
