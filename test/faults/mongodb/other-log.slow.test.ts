import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attached } from '../../api/harness/form.ts'
import { created } from '../../api/harness/stones.ts'
import { TemporaryInstallation } from '../../cli/backup/temporary-installation.ts'
import { all } from '../../contract/event-store/given.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { freePort } from '../../free-port.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { mongoServer } from '../../mongo-server.ts'
import { until } from '../../until.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { readSettings } from '../../../src/wiring/settings.ts'

const server = await mongoServer('MongoDB with the files of another log')

type Context = { installation: TemporaryInstallation; peers: readonly [own: Peer, other: Peer]; address: string }
const test = suite<Context>('a MongoDB whose files belong to another log')
test.before.each(async (context) => {
  context.installation = new TemporaryInstallation()
  context.peers = [await startPeer(), await startPeer()]
  context.address = server?.newDatabase() ?? ''
})
test.after.each(async ({ installation, peers, address }) => {
  await installation.close()
  for (const peer of peers) await peer.stop()
  await server?.drop(address)
})

const MASTER_KEY = randomBytes(32).toString('base64')

/** Digests of the files in the database. */
async function storedFiles(installation: TemporaryInstallation, settings: Readonly<Record<string, string>>) {
  const opened = await openInstallation(
    readSettings({ LOG_LEVEL: 'silent', ...settings, DATA_DIR: installation.pathOf('reader') }),
  )
  try {
    return (await all(opened.files.list())).map(({ digest }) => digest)
  } finally {
    await opened.close()
  }
}

/** Not readiness: without MongoDB the service is not ready. Until it serves requests, the front page is 503. */
const untilServing = (port: string) =>
  until('the service to serve requests', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )

/** An installation with a file, which is stopped, and its settings. */
async function filled({ installation, peers: [own], address }: Context) {
  const settings = { EVENT_STORE: own.url, READ_MODEL: address, MASTER_KEY }
  const service = await installation.serve(undefined, settings)
  const { id } = await created(service.ann)
  await attached(service.ann, id)
  await service.stop()
  return settings
}

test('refuses an empty log, even with an empty DATA_DIR', async (context) => {
  const { installation, peers } = context
  const settings = await filled(context)
  const given = { ...settings, EVENT_STORE: peers[1].url, DATA_DIR: installation.pathOf('empty'), PORT: '0' }
  for (const words of [['serve'], ['verify'], ['user', 'add', 'new@example.com', '--password', 'right horse']]) {
    const { code, err } = await installation.runToFailure(words, given)
    assert.match(
      err,
      /^adamant: The event log that EVENT_STORE names, .* is empty, but .* found checkpoints of a log, .*files\./m,
    )
    assert.match(err, /an empty DATA_DIR and another database in READ_MODEL$/m)
    assert.is(code, 1)
  }
  assert.equal(peers[1].log.all, [])
})

test('that is unavailable at the start keeps its files when it is available, and the service ends', async (context) => {
  const { installation, peers } = context
  const settings = await filled(context)
  const files = await storedFiles(installation, settings)
  const other = { ...settings, EVENT_STORE: peers[1].url, DATA_DIR: installation.pathOf('other') }
  await installation.json(['client', 'add', 'other'], {
    ...other,
    READ_MODEL: 'sqlite',
    DATA_DIR: installation.pathOf('cli'),
  })
  const proxy = await startMongoProxy(settings.READ_MODEL)
  proxy.rule(() => ({ cut: 'before' }))
  try {
    const PORT = String(await freePort())
    const service = installation.commands.start(['serve', '--json'], { ...other, READ_MODEL: proxy.address, PORT })
    // It must not become ready; this line says that it is.
    const readiness = service.line().then(
      () => service.kill('SIGTERM'),
      () => undefined,
    )
    await untilServing(PORT)
    proxy.rule()
    await readiness
    const { code, err } = await service.ended
    assert.match(
      err,
      /^adamant: The event log .* has never been used with the vault and files in .* has seen another log/m,
    )
    assert.is(code, 1)
  } finally {
    await proxy.stop()
  }
  assert.equal(await storedFiles(installation, settings), files)
})

if (server !== undefined) test.run()
