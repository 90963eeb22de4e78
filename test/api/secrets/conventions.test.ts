import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { expect, request, type Request } from '../harness/request.ts'
import { basic, form, newSender, post, expectError, reveal, shared, shownIn, type Sender } from '../harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'

type Given = { service: Service; url: string; ann: Sender; pro: Sender }
const test = suite<Given>('the secrets API, for clients of the original')
test.before(async (given) => {
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  given.url = given.service.url
  given.ann = await newSender(given.service.installation)
  given.pro = await newSender(given.service.installation, 'pro')
})
test.after(({ service }) => service.stop())

const PATH = '/api/v1/share'
const send = ({ url }: Given, { authorization }: Sender, options: Omit<Request, 'path'> & { path?: string }) =>
  request(url, {
    method: 'POST',
    path: PATH,
    ...options,
    headers: { ...options.headers, Authorization: authorization },
  })
const json = (body: string) => ({ body, headers: { 'Content-Type': 'application/json' } })

test('accepts a ttl in every numeric notation and clamps it', async (given) => {
  const { ann, url } = given
  const WEEK = 604_800
  const bodies: readonly [string, number][] = [
    ['300', 300],
    ['3600.0', 3600],
    ['"300"', 300],
    ['" 300 "', 300],
    ['"3600.0"', 3600],
    ['"+3600"', 3600],
    ['1e3', 1000],
    ['-5', 60],
    ['0.5', 60],
    ['1e300', 2_592_000],
    ['null', WEEK],
    ['""', WEEK],
    ['0', WEEK],
  ]
  for (const [ttl, inForce] of bodies) {
    const response = await send(given, ann, json(`{"secret": "x", "ttl": ${ttl}}`))
    assert.is(shownIn(response)['ttl'], inForce, `JSON ${ttl}`)
  }
  for (const [ttl, inForce] of Object.entries({ '%2B3600': 3600, '+3600': 3600, '3600.9': 3600, '-1': 60 })) {
    const response = await request(url, form(PATH, `secret=x&ttl=${ttl}`, ann.authorization))
    assert.is(shownIn(response)['ttl'], inForce, `form ${ttl}`)
  }
})

test('rejects a ttl that is not a number', async (given) => {
  for (const ttl of ['"week"', '"0x10"', '"1 2"', 'true', '[60]', '{}'])
    expectError(
      await send(given, given.ann, json(`{"secret":"x","ttl":${ttl}}`)),
      422,
      'ttl must be a number of seconds',
    )
  const response = await request(given.url, form(PATH, 'secret=x&ttl=week', given.ann.authorization))
  expectError(response, 422, 'ttl must be a number of seconds')
})

test('uses the last value of a duplicate parameter', async (given) => {
  const response = await request(
    given.url,
    form(PATH, 'secret=first&secret=last&ttl=60&ttl=120', given.ann.authorization),
  )
  const { secret_key, ttl } = shownIn(response)
  assert.is(ttl, 120)
  assert.is(shownIn(await reveal(given.url, secret_key)).value, 'last')
})

test('uses the literal text of a passphrase that is a JSON number', async (given) => {
  for (const [number, text] of [
    ['1234', '1234'],
    ['12345678901234567890', '12345678901234567890'],
    ['1.50', '1.50'],
  ] as const) {
    const { secret_key } = shownIn(await send(given, given.ann, json(`{"secret": "x", "passphrase": ${number}}`)))
    expect(404, await reveal(given.url, secret_key, 'other'))
    assert.is(shownIn(await reveal(given.url, secret_key, text)).value, 'x', number)
  }
})

test('rejects a misspelt parameter with 400 and a suggestion, and ignores other unknown ones', async (given) => {
  const parts = (name: string) => ({
    body: `--b\r\nContent-Disposition: form-data; name="secret"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\ny\r\n--b--`,
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
  })
  for (const [name, known] of [
    ['Passphrase', 'passphrase'],
    ['passphrse', 'passphrase'],
    ['TTL', 'ttl'],
    ['recipients[]', 'recipient'],
  ] as const) {
    for (const sent of [
      { ...form('', 'secret=x'), path: `${PATH}?${name}=y` },
      form(PATH, `secret=x&${name}=y`),
      json(JSON.stringify({ secret: 'x', [name.replace('[]', '')]: 'y' })),
      parts(name),
    ]) {
      const shownName = name.replace('[]', '')
      const message = `Unknown parameter ${shownName}; did you mean ${known}?`
      expectError(await send(given, given.ann, sent), 400, message)
    }
  }
  for (const sent of [form(PATH, 'secret=x&kind=share&share_domain='), parts('kind')])
    expect(200, await send(given, given.ann, sent))
  const { secret_key } = await shared(given.url, given.ann, { secret: 'x', passphrase: 'y' })
  expect(400, await request(given.url, form(`/api/v1/secret/${secret_key}`, 'passphras=y')))
  assert.is(shownIn(await reveal(given.url, secret_key, 'y')).value, 'x')
})

test('reads a URL-encoded form declared as multipart without a boundary', async (given) => {
  const headers = { 'Content-Type': 'multipart/form-data' }
  const { secret_key } = shownIn(await send(given, given.ann, { body: 'secret=a+b%26c&ttl=60', headers }))
  assert.is(shownIn(await reveal(given.url, secret_key)).value, 'a b&c')
  const parts = '--b\r\nContent-Disposition: form-data; name="secret"\r\n\r\nx\r\n--b--\r\n'
  expectError(
    await send(given, given.ann, { body: parts, headers }),
    400,
    'The Content-Type multipart/form-data must have a boundary',
  )
})

test('treats doubled slashes as one', async (given) => {
  const { secret_key } = shownIn(await send(given, given.ann, { ...form('', 'secret=x'), path: '/api//v1//share' }))
  assert.is(shownIn(await post(given.url, `/secret//${secret_key}`)).value, 'x')
})

const LISTS: Readonly<Record<string, (addresses: readonly string[]) => Request>> = {
  'recipient[]': (all) =>
    form(PATH, `secret=x&${all.map((one) => `recipient[]=${encodeURIComponent(one)}`).join('&')}`),
  'recipient%5B0%5D': (all) =>
    form(PATH, `secret=x&${all.map((one, at) => `recipient%5B${at}%5D=${encodeURIComponent(one)}`).join('&')}`),
  'a JSON array': (all) => ({ path: PATH, ...json(JSON.stringify({ secret: 'x', recipient: all })) }),
}

for (const [name, requestWith] of Object.entries(LISTS)) {
  test(`reads recipients from ${name}, up to the limit of the plan`, async (given) => {
    const all = requestWith(['tom@example.com', 'ann@mail.example.co.uk', 'tom@example.com', 'bo@x.io'])
    assert.equal(shownIn(await send(given, given.pro, all))['recipient'], [
      'to*****@e*****.com',
      'an*****@m*****.uk',
      'b*****@*****.io',
    ])
    assert.equal(shownIn(await send(given, given.ann, all))['recipient'], ['to*****@e*****.com'])
    const bad = await send(given, given.pro, requestWith(['tom@example.com', 'nobody']))
    expectError(bad, 422, 'Undeliverable email address: nobody')
  })
}

test('uses the last of several recipients without brackets', async (given) => {
  const body = 'secret=x&recipient=tom@example.com&recipient=bo@mail.example'
  assert.equal(shownIn(await send(given, given.pro, form(PATH, body)))['recipient'], ['b*****@m*****.example'])
})

test('uses the recipients of the body instead of those of the query, whatever their notation', async (given) => {
  const path = `${PATH}?recipient[]=query@example.com`
  const response = await send(given, given.pro, { ...form('', 'secret=x&recipient=body@example.com'), path })
  assert.equal(shownIn(response)['recipient'], ['bo*****@e*****.com'])
})

test('rejects wrong credentials on every endpoint, and requires none for the status', async ({ url, ann }) => {
  for (const path of ['/api/v1/status', '/api/v1/authcheck', `/api/v1/private/${'a'.repeat(50)}`]) {
    expectError(
      await request(url, { path, headers: { Authorization: basic(ann.email, 'wrong') } }),
      401,
      'Not authorized',
    )
  }
  for (const headers of [{}, { Authorization: ann.authorization }, { Authorization: 'Basic Og==' }])
    expect(200, await request(url, { path: '/api/v1/status', headers }))
  expect(200, await request(url, { path: '/api/v1/authcheck', headers: { Authorization: ann.authorization } }))
})

test('lists recent secrets for GET only', async ({ url, ann }) => {
  for (const name of ['private', 'metadata', 'receipt']) {
    const response = await post(url, `${name}/recent`, { Authorization: ann.authorization })
    assert.match(expect(405, response).headers['allow'] ?? '', /GET/)
    expect(200, await request(url, { path: `/api/v1/${name}/recent`, headers: { Authorization: ann.authorization } }))
  }
})

test('shows the time, and no key, of a received secret', async ({ url, ann }) => {
  const { secret_key, metadata_key } = await shared(url, ann, { secret: 'x' })
  shownIn(await reveal(url, secret_key))
  const shown = shownIn(await post(url, `private/${metadata_key}`))
  assert.equal(
    [shown.state, 'secret_key' in shown, 'secret_ttl' in shown, typeof shown['received']],
    ['received', false, false, 'number'],
  )
})

test.run()
