import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { SqliteVault } from '../../src/stores/sqlite/vault.ts'
import type { Vault } from '../../src/stores/ports/vault.ts'
import { openPostbox } from '../api/harness/postbox.ts'
import { expect, request } from '../api/harness/request.ts'
import { form, expectUnknownSecret, newSender, post, shared, shownIn } from '../api/harness/secrets.ts'
import { startService } from '../api/harness/service.ts'
import { until } from '../until.ts'

const test = suite('a service whose vault is full')

const isEmbedded = (vault: Vault): vault is SqliteVault => 'limitPages' in vault

test('rejects new secrets without storing events, still reveals existing ones, and recovers', async () => {
  const postbox = await openPostbox()
  const service = await startService({ settings: { MAILER: postbox.address } })
  const { installation, url } = service
  const { store, vault } = installation
  try {
    if (!isEmbedded(vault)) return
    const ann = await newSender(installation, 'pro')
    const [revealed, burned, kept] = await Promise.all(
      ['told', 'burned', 'kept'].map((secret) => shared(url, ann, { secret })),
    )
    if (revealed === undefined || burned === undefined || kept === undefined) throw new Error('nothing was shared')
    await vault.limitPages(1)
    const long = { secret: 'x'.repeat(10_000), recipient: 'tom@example.com' }
    const share = () => request(url, form('/api/v1/share', new URLSearchParams(long).toString(), ann.authorization))
    await until('the last free page to be used', async () => (await share()).status === 503)
    const head = await store.head()
    for (let attempt = 0; attempt < 5; attempt++) {
      const response = expect(503, await share())
      assert.ok(Number(response.headers['retry-after']) > 0)
    }
    assert.equal(await store.head(), head)

    assert.is(shownIn(await post(url, `private/${kept.metadata_key}`)).state, 'new')
    expect(200, await request(url, { path: `/secret/${kept.secret_key}` }))
    assert.is(shownIn(await post(url, `secret/${revealed.secret_key}`)).value, 'told')
    expectUnknownSecret(await post(url, `secret/${revealed.secret_key}`), revealed.secret_key)
    shownIn(await post(url, `private/${burned.metadata_key}/burn`))
    expectUnknownSecret(await post(url, `secret/${burned.secret_key}`), burned.secret_key)

    await vault.limitPages(1_000_000)
    const again = await shared(url, ann, { ...long, recipient: 'ina@example.com' })
    // The mail must be sent before the secret is read, because a read secret's link is not mailed.
    await until('the mail', () => postbox.accepted.some(({ text }) => text?.includes(again.secret_key)))
    assert.is(shownIn(await post(url, `secret/${again.secret_key}`)).value, long.secret)
    assert.is(shownIn(await post(url, `secret/${kept.secret_key}`)).value, 'kept')
  } finally {
    await service.stop()
    await postbox.close()
  }
})

test.run()
