import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { INSTALLATION_ADDRESS_HELP } from '../../src/cli/installation-address.ts'
import { EVENT_STORES, MAILERS, READ_STORES, type StoreEngine } from '../../src/wiring/store-engines.ts'
import { readSettings } from '../../src/wiring/settings.ts'
import { engineOf, isAddressOf, withoutCredentials } from '../../src/wiring/store-addresses.ts'

type Registry = Readonly<Record<string, StoreEngine<unknown, never>>>
const REGISTRIES: Readonly<Record<'EVENT_STORE' | 'READ_MODEL' | 'MAILER', Registry>> = {
  EVENT_STORE: EVENT_STORES,
  READ_MODEL: READ_STORES,
  MAILER: MAILERS,
}
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
const docs = ['README.md', 'docs/operations.md'].map((file) => readFileSync(file, 'utf8')).join('\n')
const test = suite('the supported stores')

for (const [setting, engines] of Object.entries(REGISTRIES)) {
  for (const [scheme, { example = `${scheme}://HOST:PORT/DATABASE`, location }] of Object.entries(engines)) {
    const address = example.replace('PORT', '2113')
    test(`are selected by ${setting}=${address} with the scheme ${scheme}`, () => {
      assert.is(readSettings({ MASTER_KEY, [setting]: address })[setting as keyof typeof REGISTRIES], address)
      assert.is(engineOf(engines, address), engines[scheme])
      assert.not.ok(isAddressOf(engines, `${address}x`.replace(/^[a-z]+/, 'other')))
    })

    test(`are documented: ${setting}=${scheme}`, () => {
      assert.ok(docs.includes(location === 'on a server' ? `${scheme}://` : scheme), `no document describes ${scheme}`)
    })

    if (setting !== 'MAILER') {
      test(`are listed in the help of the move command: ${setting}=${scheme}`, () => {
        if (engines[scheme]?.example !== undefined)
          assert.ok(INSTALLATION_ADDRESS_HELP.includes(withoutCredentials(example)))
      })
    }
  }
}

test.run()
