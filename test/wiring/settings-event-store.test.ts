import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openInstallation } from '../../src/wiring/open-installation.ts'
import { BadSettings, readSettings } from '../../src/wiring/settings.ts'
import { withFolder } from '../temporary-folder.ts'

const test = suite('the setting EVENT_STORE')

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

const good = [
  'sqlite',
  'esdb://localhost:2113?tls=false',
  'esdb://a.example:2113,b.example:2113,c.example:2113',
  'esdb+discover://admin:changeit@cluster.example:2113?nodePreference=leader',
]
for (const EVENT_STORE of good) {
  test(`accepts ${EVENT_STORE.replace('changeit', '...')}`, () => {
    assert.is(readSettings({ EVENT_STORE, MASTER_KEY }).EVENT_STORE, EVENT_STORE)
  })
}

for (const EVENT_STORE of ['esdb:', 'http://localhost:2113', 'kurrentdb://localhost:2113', 'esdb://']) {
  test(`rejects ${EVENT_STORE}, and the message names the valid values`, () => {
    assert.throws(() => readSettings({ EVENT_STORE, MASTER_KEY }), /EVENT_STORE must be sqlite, esdb:\/\/HOST:PORT/)
  })
}

test('requires MASTER_KEY for a shared event store', () => {
  assert.throws(() => readSettings({ EVENT_STORE: good[1] }), /MASTER_KEY is required if EVENT_STORE is not sqlite/)
})

test('that the client cannot parse is rejected without its password in the message', () =>
  withFolder(async (folder) => {
    const settings = readSettings({ EVENT_STORE: 'esdb://admin:hush@host:port', MASTER_KEY, DATA_DIR: folder })
    const error = await openInstallation(settings).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    assert.match(String(error), /EVENT_STORE is not an EventStoreDB connection string/)
    assert.instance(error, BadSettings)
    assert.not.match(String(error), /hush/)
  }))

test.run()
