import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { enableAccount, findAccount, registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { forgetAccount, requireLogin } from '../../../src/commands/accounts/forget-account.ts'
import { AccountDirectory } from '../../../src/commands/accounts/account-directory.ts'
import { openMasterKeys } from '../../../src/credentials/master-keys.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { ann, cli, clientOf, isLive, logIn, openProcess, withLogFile, type Process } from '../accounts-on-disk.ts'

const test = suite('a forgotten account')

const withOne = (run: (one: Process, file: string) => Promise<void>) =>
  withLogFile(async (file) => {
    const one = await openProcess(file, { now: 1_800_000_000_000 })
    try {
      await run(one, file)
    } finally {
      await one.close()
    }
  })

const rowsOf = async ({ persons }: Process) => {
  const accounts: number[] = []
  for await (const { account } of persons.all()) accounts.push(account)
  return accounts
}

test('rejects log-ins and access tokens issued before', () =>
  withOne(async (one) => {
    await registerAccount(one, ann, cli)
    const client = await clientOf(one)
    const { accessToken } = await logIn(one, client)
    assert.ok(await isLive(one, accessToken))
    await forgetAccount(one, await requireLogin(one, ann.email), cli)
    assert.not(await isLive(one, accessToken))
    assert.ok(
      await logIn(one, client).then(
        () => false,
        () => true,
      ),
    )
    assert.equal(await rowsOf(one), [])
  }))

test('is found again after a crash at any step, and its log-in stays reserved until the command finishes', () =>
  withOne(async (one) => {
    const { account } = await registerAccount(one, ann, cli)
    const crash = new StoreUnavailable('died')
    const crashing = (calls: object) => ({ ...one, ...calls })
    const steps = [
      crashing({ store: { ...one.store, append: () => Promise.reject(crash) } }),
      crashing({ persons: { ...one.persons, forget: () => Promise.reject(crash) } }),
      crashing({ vault: { ...one.vault, shred: () => Promise.reject(crash) } }),
    ]
    for (const process of steps) {
      const login = await requireLogin(one, ann.email)
      assert.equal(login.account, account)
      assert.is(await forgetAccount(process, login, cli).catch((error: unknown) => error), crash)
      // The address stays taken until the command finishes.
      const conflict = await registerAccount(one, ann, cli).catch((error: unknown) => error)
      assert.ok(conflict instanceof RequestError && conflict.kind === 'conflict', String(conflict))
    }
    assert.ok((await findAccount(one, ann.email))?.status === 'forgotten')
    await forgetAccount(one, await requireLogin(one, ann.email), cli)
    assert.is(await one.people.findLogin(ann.email), undefined)
    assert.equal(await rowsOf(one), [])
    assert.is.not((await registerAccount(one, ann, cli)).account, account)
  }))

test('can be addressed by its id, and is never enabled again', () =>
  withOne(async (one) => {
    const { account } = await registerAccount(one, ann, cli)
    await one.persons.forget([account])
    const login = await requireLogin(one, String(account))
    await forgetAccount({ ...one, vault: { ...one.vault, shred: () => Promise.reject(new Error('died')) } }, login, cli)
      .then(() => assert.unreachable())
      .catch((error: Error) => assert.is(error.message, 'died'))
    const refused = await enableAccount(one, ann.email, cli).catch((error: unknown) => error)
    assert.ok(refused instanceof RequestError && refused.kind === 'conflict', String(refused))
    await forgetAccount(one, await requireLogin(one, String(account)), cli)
    const missing = await requireLogin(one, String(account)).catch((error: unknown) => error)
    assert.ok(missing instanceof RequestError && missing.kind === 'missing', String(missing))
  }))

const rotation = suite('an account registered before a rotation of the master key')

rotation('is found and read with the new key alone', () =>
  withLogFile(async (file) => {
    const [former, next] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
    const keysOf = (masterKey: string, masterKeyOld?: string) =>
      openMasterKeys({ dataDir: '', masterKey, masterKeyOld })
    const one = await openProcess(file, { now: 1_800_000_000_000 })
    const peopleWith = (keys: ReturnType<typeof keysOf>) => new AccountDirectory(one, one.persons, keys)
    const registering = { ...one, people: peopleWith(keysOf(former)) }
    try {
      await registerAccount(registering, ann, cli)
      await peopleWith(keysOf(next, former)).loadKey()
      const people = peopleWith(keysOf(next))
      const found = await findAccount({ store: one.store, people }, ann.email)
      assert.is(found && (await people.emailOf(found.account, found)), ann.email)
    } finally {
      await one.close()
    }
  }),
)

test.run()
rotation.run()
