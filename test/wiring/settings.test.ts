import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openInstallation } from '../../src/wiring/open-installation.ts'
import { BadSettings, readSettings } from '../../src/wiring/settings.ts'

const test = suite('the settings')

const good = [
  'sqlite',
  'mongodb://127.0.0.1:27017/adamant',
  'mongodb://one,two:27018,three/adamant?replicaSet=rs0&tls=true',
  'mongodb://user:p%40ss@[::1]:27017/adamant',
  'mongodb+srv://cluster.example.com/adamant?retryWrites=true',
]
for (const address of good) {
  test(`accept READ_MODEL=${address}`, () => assert.is(readSettings({ READ_MODEL: address }).READ_MODEL, address))
}

const bad = [
  'mongo://127.0.0.1/adamant',
  'mongodb://127.0.0.1:27017',
  'mongodb://127.0.0.1:27017/',
  'mongodb://127.0.0.1:27017/?replicaSet=rs0',
  'mongodb:///adamant',
  'mongodb://host/two.parts',
  'mongodb://host/a/b',
  'postgres://host/adamant',
]
for (const address of bad) {
  test(`reject READ_MODEL=${address} with a message that names the valid values`, () => {
    const message = faultsOf(() => readSettings({ READ_MODEL: address }))
    assert.match(
      message,
      'READ_MODEL must be sqlite or mongodb://HOST:PORT/DATABASE, with the name of the database, got',
    )
    assert.match(message, address)
  })
}

test('do not quote a READ_MODEL with a password in the message', () => {
  const message = faultsOf(() => readSettings({ READ_MODEL: 'mongodb://user:hunter2@host' }))
  assert.match(message, 'mongodb://HOST:PORT/DATABASE')
  assert.not.match(message, 'hunter2')
})

for (const [reason, address] of [['an invalid port', 'mongodb://host:99999999/adamant']] as const) {
  test(`reject a READ_MODEL with ${reason} without its password in the message`, async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'adamant-settings-'))
    try {
      for (const given of [address, address.replace('//', '//user:hunter2@')]) {
        const failure = await openInstallation(
          readSettings({ READ_MODEL: given, DATA_DIR: dataDir, LOG_LEVEL: 'silent' }),
        ).catch((error: unknown) => error)
        assert.instance(failure, BadSettings)
        assert.match(String(failure), 'READ_MODEL is not a MongoDB connection string')
        assert.not.match(String(failure), 'hunter2')
      }
    } finally {
      rmSync(dataDir, { recursive: true })
    }
  })
}

const NEAR_NAMES = {
  DATADIR: 'DATA_DIR',
  data_dir: 'DATA_DIR',
  EVENT_STOER: 'EVENT_STORE',
  READMODEL: 'READ_MODEL',
  MASTERKEY: 'MASTER_KEY',
  SECRET_URL: 'SECRETS_URL',
  TRUST_PROXYS: 'TRUST_PROXY',
}

for (const [given, meant] of Object.entries(NEAR_NAMES)) {
  test(`reject ${given} and suggest ${meant}, unless that is set too`, () => {
    const value = { [meant]: 'sqlite', [given]: 'hunter2' }
    const faults = faultsOf(() => readSettings({ [given]: 'hunter2' }))
    assert.match(faults, `${given} is not a setting: did you mean ${meant}?`)
    assert.not.match(faults, 'hunter2')
    if (meant === 'DATA_DIR') assert.is(readSettings(value).DATA_DIR, 'sqlite')
  })
}

test('ignore blanks and line ends around a value, such as a Kubernetes secret has', () => {
  const key = Buffer.alloc(32, 1).toString('base64')
  for (const end of ['\n', '\r', '\r\n', ' ']) {
    const { MASTER_KEY, READ_MODEL, EVENT_STORE, PORT, HOST, ROLES, LOG_LEVEL, SECRETS_ANONYMOUS } = readSettings({
      MASTER_KEY: `${key}${end}`,
      MASTER_KEY_OLD: `${end}${key}${end}`,
      READ_MODEL: `mongodb://host/adamant${end}`,
      EVENT_STORE: `esdb://host:2113${end}`,
      PORT: `21013${end}`,
      HOST: `::1${end}`,
      ROLES: `http${end}`,
      LOG_LEVEL: `warn${end}`,
      SECRETS_ANONYMOUS: `true${end}`,
      BASE_URL: end,
    })
    assert.equal(
      [MASTER_KEY, READ_MODEL, EVENT_STORE, PORT, HOST, ROLES, LOG_LEVEL, SECRETS_ANONYMOUS],
      [key, 'mongodb://host/adamant', 'esdb://host:2113', 21013, '::1', ['http'], 'warn', true],
    )
  }
})

test('ignore the environment variables of other programs', () => {
  const environment = { HOME: '/home/ann', HOSTTYPE: 'x86_64', MAILTO: 'ann', MAILFROM: 'ann', PATH: '/bin', TZ: 'UTC' }
  assert.is(readSettings(environment).PORT, 8080)
})

function faultsOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (error instanceof BadSettings) return error.message
    throw error
  }
  throw new Error('the settings were accepted')
}

test.run()
