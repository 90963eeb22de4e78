import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { forgetAccount, requireLogin } from '../../src/commands/accounts/forget-account.ts'
import { findAccount } from '../../src/commands/accounts/accounts.ts'
import { expect, request } from './harness/request.ts'
import { newSender, shared } from './harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, untilDelivered, type Service } from './harness/service.ts'
import { created } from './harness/stones.ts'

const test = suite<{ service: Service }>('a forgotten account')
test.before(async (context) => {
  context.service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
})
test.after(({ service }) => service.stop())

const cli = { actor: 'operator', via: 'cli', correlation: 'test' } as const

test('can no longer authenticate, its secrets are unknown, and no event contains its address', async ({ service }) => {
  const { installation, url } = service
  const { store, context, persons, vault } = installation
  const sender = await newSender(installation)
  const headers = { Authorization: sender.authorization }
  const { secret_key } = await shared(url, sender, { secret: 'x' })
  const check = () => request(url, { path: '/api/v1/authcheck', headers })
  expect(200, await check())
  const { account } = await forgetAccount(
    { ...context, persons, vault },
    await requireLogin(context, sender.email),
    cli,
  )
  await untilDelivered('the forgotten account', async () => (await check()).status === 401)
  expect(401, await check())
  expect(404, await request(url, { method: 'POST', path: `/api/v1/secret/${secret_key}` }))
  assert.is(account, sender.account)
  assert.is(await persons.readPerson(account), undefined)
  assert.is(await findAccount(context, sender.email), undefined)
  for await (const event of store.readAll('start')) {
    assert.not.match(JSON.stringify([event.stream, event.data, event.metadata]), /@example\.com/)
  }
})

test('appears by its number in the history of a diamond, where other accounts appear by their address', async ({
  service,
}) => {
  const { ann, installation } = service
  const { id } = await created(ann)
  const byOf = async () => {
    const entries = expect(200, await ann.get(`/v4/diamond/${id}/history`)).json() as { by: { account: string } }[]
    return entries[0]?.by.account
  }
  assert.match((await byOf()) ?? '', /@/)
  await installation.persons.forget([ann.account])
  assert.is(await byOf(), `account-${ann.account}`)
})

test.run()
