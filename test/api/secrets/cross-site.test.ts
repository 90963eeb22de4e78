import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { expect, request } from '../harness/request.ts'
import { form, newSender, reveal, shared, shownIn, type Sender } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'

type Given = { service: Service; url: string; ann: Sender }
const test = suite<Given>('a form from another site')
test.before(async (given) => {
  given.service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { CORS_ORIGINS: 'https://shop.example' },
  })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
})
test.after(({ service }) => service.stop())

/** What browsers send with a form's post. */
const FOREIGN: Readonly<Record<string, Record<string, string>>> = {
  'in a browser with fetch metadata': {
    'Sec-Fetch-Site': 'cross-site',
    'Sec-Fetch-Mode': 'navigate',
    Origin: 'https://evil.example',
  },
  'on a sibling subdomain': { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'navigate' },
  'in an older browser': { Origin: 'https://evil.example' },
  'on a page without an origin': { 'Sec-Fetch-Site': 'cross-site', Origin: 'null' },
  'on a page whose scripts CORS_ORIGINS allows': {
    'Sec-Fetch-Site': 'cross-site',
    'Sec-Fetch-Mode': 'navigate',
    Origin: 'https://shop.example',
  },
}

for (const [name, headers] of Object.entries(FOREIGN)) {
  test(`${name} cannot share, read or burn a secret`, async ({ url, ann }) => {
    const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x' })
    const sent = async (path: string, body: string) => {
      const formRequest = form(path, body, ann.authorization)
      return request(url, { ...formRequest, headers: { ...formRequest.headers, ...headers } })
    }
    assert.match(expect(403, await sent('/api/v1/share', 'secret=x')).text, /Cross-site request rejected/)
    for (const path of [
      `/api/v1/secret/${secret_key}`,
      `/secret/${secret_key}`,
      `/private/${metadata_key}/burn`,
      `/api/v1/private/${metadata_key}/burn`,
    ])
      expect(403, await sent(path, ''))
    assert.is(shownIn(await reveal(url, secret_key)).value, 'x')
  })
}

test('is distinguished from own pages, programs and allowed scripts', async ({ url, ann }) => {
  const own: Record<string, string>[] = [
    {},
    { 'Sec-Fetch-Site': 'same-origin', Origin: url },
    { 'Sec-Fetch-Site': 'same-origin', Origin: 'null' },
    { Origin: url },
    { 'Sec-Fetch-Site': 'none' },
  ]
  for (const headers of own) {
    const { secret_key } = await shared(url, ann, { secret: 'x' })
    expect(200, await request(url, { ...form(`/secret/${secret_key}`, ''), headers }))
  }
  const formRequest = form('/api/v1/share', 'secret=x', ann.authorization)
  const script = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors', Origin: 'https://shop.example' }
  expect(200, await request(url, { ...formRequest, headers: { ...formRequest.headers, ...script } }))
})

test.run()
