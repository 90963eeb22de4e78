import * as assert from 'uvu/assert'
import { suite } from 'uvu'
import { changePassword, disableAccount } from '../../../src/commands/accounts/accounts.ts'
import { vendor } from '../harness/account.ts'
import { newEpoch } from '../harness/new-epoch.ts'
import { servicesInFolder } from '../harness/folder.ts'
import { expect, refusal } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, untilDelivered, type Service } from '../harness/service.ts'
import { cookieIn, cookieOf, isLogIn, logInRequest, newPerson, getPage, type Person } from './browser.ts'

type Given = { service: Service; ann: Person; time: { now: number } }
const test = suite<Given>('the log-in to the inventory page')
test.before(async (given) => {
  const time = { now: Date.now() }
  given.time = time
  given.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, clock: () => time.now })
  given.ann = await newPerson(given.service)
})
test.after(({ service }) => service.stop())

const origin = { actor: 'operator', via: 'cli', correlation: 'test' } as const
const HOUR = 3_600_000

const tokenIn = (cookie: string) => cookie.slice(cookie.indexOf('=') + 1)

test('opens a session with an HttpOnly, SameSite cookie', async ({ service, ann }) => {
  assert.ok(isLogIn(expect(200, await service.send({ path: '/inventory' }))))
  const response = expect(303, await service.send(logInRequest(ann)))
  assert.is(response.headers.location, 'inventory')
  assert.is(response.headers['cache-control'], 'no-store')
  assert.match(cookieIn(response), /^adamant=v1\.\S+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/)
  const page = expect(200, await getPage(service, '/inventory', await cookieOf(service, ann)))
  assert.not(isLogIn(page))
  assert.is(page.headers['cache-control'], 'no-store')
  assert.match(String(page.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/)
  assert.is(page.headers['x-robots-tag'], 'noindex, nofollow')
})

test('leads to the requested page and its filters', async ({ service, ann }) => {
  const response = await service.send(logInRequest(ann, {}, '/inventory?f[sku][]=A%207&sort=carat'))
  assert.is(expect(303, response).headers.location, 'inventory?f%5Bsku%5D%5B%5D=A+7&sort=carat')
  const page = '/inventory/7?a=1'
  const { text } = expect(200, await service.send({ path: page }))
  assert.ok(text.includes('<input type="hidden" name="page" value="inventory/7?a=1" />'))
  assert.ok(text.includes('action="../inventory"'))
  const slashes = await service.send(logInRequest(ann, {}, '/inventory//'))
  assert.is(expect(303, slashes).headers.location, '../../inventory')
})

test('leads to no page of another site', async ({ service, ann }) => {
  const leadsTo = async (page: string) =>
    expect(303, await service.send(logInRequest(ann, {}, '/inventory', { page }))).headers.location
  assert.is(await leadsTo('inventory/7'), 'inventory/7')
  assert.is(await leadsTo('inventory?sort=carat'), 'inventory?sort=carat')
  for (const page of [
    '//evil.example',
    'https://evil.example/inventory',
    '/inventory',
    'inventory/../x',
    'inventory\n',
  ]) {
    assert.is(await leadsTo(page), 'inventory', page)
  }
  const wrong = await service.send(
    logInRequest({ ...ann, password: 'wrong' }, {}, '/inventory', { page: 'inventory/7' }),
  )
  assert.ok(expect(403, wrong).text.includes('name="page" value="inventory/7"'))
})

test('shows the same error for a wrong password, a disabled account and an unknown address', async ({
  service,
  ann,
}) => {
  const disabled = await newPerson(service)
  await disableAccount(service.installation.context, { email: disabled.email, apiTokens: 'kept' }, origin)
  const tries = [
    { email: ann.email, password: 'wrong' },
    disabled,
    { email: 'nobody@example.com', password: 'wrong' },
    { email: ann.email, password: '' },
  ]
  const texts = new Set<string>()
  for (const { email, password } of tries) {
    const response = expect(403, await service.send(logInRequest({ email, password })))
    assert.is(response.headers['set-cookie'], undefined)
    assert.ok(response.text.includes(`value="${email}"`))
    assert.not(response.text.includes('wrong"'))
    texts.add(response.text.replace(email, ''))
  }
  assert.is(texts.size, 1)
})

test('ignores a password in the URL', async ({ service, ann }) => {
  const query = new URLSearchParams({ email: ann.email, password: ann.password }).toString()
  expect(403, await service.send(logInRequest({}, {}, `/inventory?${query}`)))
})

test('rejects forms and log-outs from another site', async ({ service, ann }) => {
  const evil = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', Origin: 'https://evil.example' }
  expect(403, await service.send(logInRequest(ann, evil)))
  const older = { 'Sec-Fetch-Site': [], Origin: 'https://evil.example' }
  expect(403, await service.send(logInRequest(ann, older)))
  const cookie = await cookieOf(service, ann)
  const out = { method: 'POST', path: '/inventory/log-out', headers: { Cookie: cookie, ...evil } }
  expect(403, await service.send(out))
  assert.not(isLogIn(await getPage(service, '/inventory', cookie)))
})

test('is rejected after five failed attempts', async ({ service }) => {
  const bob = await newPerson(service)
  for (let tried = 0; tried < 5; tried++) {
    expect(403, await service.send(logInRequest({ email: bob.email, password: `${tried}` })))
  }
  const response = expect(429, await service.send(logInRequest(bob)))
  assert.ok(Number(response.headers['retry-after']) > 0)
  assert.match(response.text, 'Too many attempts')
})

test('ends by log-out, which leaves other sessions of the account open', async ({ service, ann }) => {
  const [cookie, other] = [await cookieOf(service, ann), await cookieOf(service, ann)]
  const out = { method: 'POST', path: '/inventory/log-out', headers: { Cookie: cookie } }
  const response = expect(303, await service.send(out))
  assert.is(response.headers.location, '../inventory')
  assert.match(cookieIn(response), /^adamant=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/)
  assert.ok(isLogIn(await getPage(service, '/inventory', cookie)))
  assert.not(isLogIn(await getPage(service, '/inventory', other)))
  assert.is(expect(303, await service.send(out)).headers.location, '../inventory')
})

test('ends after 12 hours', async ({ service, ann, time }) => {
  const cookie = await cookieOf(service, ann)
  time.now += 12 * HOUR - 1000
  assert.not(isLogIn(await getPage(service, '/inventory', cookie)))
  time.now += 1000
  assert.ok(isLogIn(await getPage(service, '/inventory', cookie)))
  assert.ok(isLogIn(await getPage(service, '/inventory/7', cookie)))
})

test('ends when the password is changed or the account is disabled', async ({ service }) => {
  const { context } = service.installation
  const isLoggedOut = async (cookie: string) => isLogIn(await getPage(service, '/inventory', cookie))
  const tom = await newPerson(service)
  const [before, after] = [await cookieOf(service, tom), { ...tom, password: 'another password' }]
  const passwords = { hash: async () => 'not a hash' }
  await changePassword({ ...context, passwords }, { ...after, apiTokens: 'kept' }, origin)
  await untilDelivered('the changed password', () => isLoggedOut(before))
  assert.ok(await isLoggedOut(before))
  const eve = await newPerson(service)
  const cookie = await cookieOf(service, eve)
  await disableAccount(context, { email: eve.email, apiTokens: 'kept' }, origin)
  await untilDelivered('the disabled account', () => isLoggedOut(cookie))
  assert.ok(await isLoggedOut(cookie))
})

test('is valid only for pages: the API rejects its token, and an API token opens no page', async ({ service, ann }) => {
  const cookie = await cookieOf(service, ann)
  refusal(401, await vendor(service.url, ann.account, tokenIn(cookie)).get('/v4/diamond'))
  assert.ok(isLogIn(await getPage(service, '/inventory', `adamant=${service.ann.token}`)))
  for (const bad of [
    'adamant=',
    'adamant',
    'adamant=v1.a.b.c',
    `adamant=${tokenIn(cookie)}x`,
    `x=${tokenIn(cookie)}`,
  ]) {
    assert.ok(isLogIn(expect(200, await getPage(service, '/inventory', bad))), bad)
  }
  assert.not(isLogIn(await getPage(service, '/inventory', `a=1; ${cookie}; b=2`)))
})

test('is recorded as an ordinary session of the client browser', async ({ service, ann }) => {
  await cookieOf(service, ann)
  const sessions: unknown[] = []
  for await (const { data, type } of service.installation.store.readAll('start', { prefixes: ['session-'] })) {
    sessions.push({ type, account: data['account'], client: data['client'] })
  }
  assert.equal(sessions.at(-1), { type: 'SessionOpened', account: ann.account, client: 'browser' })
})

test('lasts 12 hours regardless of TOKEN_TTL', async () => {
  const time = { now: Date.now() }
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    clock: () => time.now,
    settings: { TOKEN_TTL: '60' },
  })
  try {
    const cookie = await cookieOf(service, await newPerson(service))
    time.now += 11 * HOUR
    assert.not(isLogIn(await getPage(service, '/inventory', cookie)))
  } finally {
    await service.stop()
  }
})

test('uses a Secure cookie with the __Host- prefix if the public URL is https', async () => {
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings: { BASE_URL: 'https://api.example.com' },
  })
  try {
    const response = expect(303, await service.send(logInRequest(await newPerson(service))))
    assert.match(cookieIn(response), /^__Host-adamant=v1\.\S+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/)
  } finally {
    await service.stop()
  }
})

test('ends when the log is restored', () =>
  servicesInFolder(async (start, dataDir) => {
    const before = await start('http,projections')
    const ann = await newPerson(before)
    const cookie = await cookieOf(before, ann)
    await before.stop()
    await newEpoch(dataDir)
    const after = await start('http,projections')
    assert.ok(isLogIn(await getPage(after, '/inventory', cookie)))
    assert.not(isLogIn(await getPage(after, '/inventory', await cookieOf(after, ann))))
  }))

test.run()
