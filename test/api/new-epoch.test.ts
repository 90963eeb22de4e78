import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { vendor } from './harness/account.ts'
import { servicesInFolder } from './harness/folder.ts'
import { newEpoch } from './harness/new-epoch.ts'
import { attached, pathOf } from './harness/form.ts'
import { expect } from './harness/request.ts'
import { newSender, shared } from './harness/secrets.ts'
import { created } from './harness/stones.ts'

const test = suite('a log that begins a new epoch')

test('rejects tokens, links and secrets of the previous epoch and never reuses an id', () =>
  servicesInFolder(async (start, dataDir) => {
    const before = await start('http,projections')
    const { ann } = before
    const { id } = await created(ann, { sku: 'KEPT' })
    const file = pathOf((await attached(ann, id)).file)
    expect(200, await before.send({ path: file }))
    const sender = await newSender(before.installation)
    const secret = await shared(before.url, sender, { secret: 'waiting' })
    await before.stop()

    const first = await newEpoch(dataDir)
    const later = await start('http,projections')
    const old = vendor(later.url, ann.account, ann.token)
    expect(401, await old.get(`/v4/diamond/${id}`))
    expect(401, await old.get('/v4/diamond'))
    expect(401, await old.post('/v4/diamond', { sku: 'X', cutShape: 'Round', carat: 1 }))
    assert.is((await later.send({ path: file })).status, 404)
    expect(404, await later.send({ method: 'POST', path: `/api/v1/secret/${secret.secret_key}` }))
    const made = await created(later.ann, { sku: 'NEW' })
    assert.ok(made.id > id + 1_000_000, `${made.id} may have been issued before`)
    assert.ok(later.ann.account > ann.account + 1_000_000)
    await later.stop()

    assert.ok((await newEpoch(dataDir)) > first)
    const last = await start('http,projections')
    expect(401, await vendor(last.url, later.ann.account, later.ann.token).get('/v4/diamond'))
    expect(204, await last.ann.get('/v4/diamond'))
  }))

test.run()
