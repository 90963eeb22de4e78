import * as assert from 'uvu/assert'
import { vendor } from '../../api/harness/account.ts'
import { attached, pathOf } from '../../api/harness/form.ts'
import { expect } from '../../api/harness/request.ts'
import { created } from '../../api/harness/stones.ts'
import { type Peer } from '../../eventstoredb/peer/peer.ts'
import { serverInstallationSuite } from './temporary-installation.ts'
import { freePort } from '../../free-port.ts'
import { until } from '../../until.ts'

const test = serverInstallationSuite('an installation whose log is on a server')

/** Restores the event store server to its first `events` events. */
async function restoreServer(peer: Peer, events: number): Promise<void> {
  await peer.down()
  peer.log.truncate(events)
  await peer.up()
}

test('is backed up and restored with the server, and the restore command begins a new epoch', async (context) => {
  const { installation, peer, settings } = context
  const service = await installation.serve(undefined, settings)
  const { id } = await created(service.ann, { sku: 'KEPT' })
  const file = pathOf((await attached(service.ann, id)).file)
  const events = peer.log.all.length
  const { code, out, err } = await installation.run(['backup', installation.pathOf('b')], settings)
  assert.is(code, 0, err)
  assert.match(err, /with the server's own tools/)
  assert.is((JSON.parse(out) as { files: number }).files, 1)
  const eve = await service.newVendor()
  await created(eve, { sku: 'EVES' })

  const running = await installation.run(['restore', installation.pathOf('b'), '--in-place'], settings)
  assert.is(running.code, 1)
  assert.match(running.err, /stop all of them first/)
  await service.stop()
  await restoreServer(peer, events)

  const unready = await installation.run(['serve'], { ...settings, PORT: '0' })
  assert.is(unready.code, 1)
  assert.match(unready.err, /adamant: The event log does not have an event that .*adamant restore --in-place/)
  assert.not.match(unready.err, /^ +at /m)
  const unconfirmed = await installation.run(['restore', installation.pathOf('b')], settings)
  assert.is(unconfirmed.code, 2)
  assert.match(unconfirmed.err, /--in-place/)

  const restored = await installation.json(['restore', installation.pathOf('b'), '--in-place'], settings)
  assert.ok(Number(restored['epoch']) > 0)
  assert.is(restored['files'], 1)
  const restarted = await installation.serve(undefined, settings)
  for (const { account, token } of [service.ann, eve]) {
    expect(401, await vendor(restarted.url, account, token).get('/v4/diamond'))
  }
  expect(404, await restarted.send({ path: file }))
  assert.ok((await created(restarted.ann)).id > id + 1_000_000)
})

test('ends running processes when its log is restored', async ({ installation, peer, settings }) => {
  const first = await installation.serve(undefined, settings)
  await created(first.ann, { sku: 'KEPT' })
  const events = peer.log.all.length
  await first.stop()
  const serve = async () => {
    const PORT = String(await freePort())
    const started = installation.commands.start(['serve'], {
      ...settings,
      DATA_DIR: installation.dataDir,
      ROLES: 'http',
      PORT,
    })
    // Not readiness: with ROLES=http the process is not ready until another one projects. Until it serves, this is 503.
    await until('the service to serve requests', () =>
      fetch(`http://127.0.0.1:${PORT}/`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    return started
  }
  const running = await serve()
  await installation.json(['restore', '--in-place'], settings)
  const { code, err } = await running.ended
  assert.is(code, 1)
  assert.match(err, /^adamant: The event log was restored while this process was running.*restart the process$/m)

  const restarted = await serve()
  await restoreServer(peer, events)
  const ended = await restarted.ended
  assert.is(ended.code, 1)
  assert.match(ended.err, /^adamant: The event log does not have an event that this process has seen/m, ended.err)
})

test.run()
