import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { created, list } from '../../api/harness/stones.ts'
import { expect } from '../../api/harness/request.ts'
import { CommandLine, type RunningProgram } from '../../cli/command-line.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { withInstallation } from '../serving.ts'
import { freePort } from '../../free-port.ts'
import { until } from '../../until.ts'

type Context = { peer: Peer; commands: CommandLine; settings: Record<string, string> }
const test = suite<Context>('a start of the service on EventStoreDB')
test.before.each(async (context) => {
  context.peer = await startPeer()
  context.peer.faults.stallOnConcurrentReads()
  context.commands = new CommandLine()
  context.settings = { EVENT_STORE: context.peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
})
test.after.each(async ({ peer, commands }) => {
  await commands.remove()
  await peer.stop()
})

const RESTARTS = 3

test('does not make the server stall, as by reads of many single events at once', ({ peer, settings }) =>
  withInstallation(async ({ serve }) => {
    let service = await serve()
    const { id } = await created(service.ann)
    for (let restart = 0; restart < RESTARTS; restart++) {
      assert.is(await service.stop(), 0)
      service = await serve()
      assert.equal(
        list(expect(200, await service.ann.get('/v4/diamond'))).map((stone) => stone.id),
        [id],
      )
    }
    assert.is(peer.faults.stalls, 0)
  }, settings))

const waitingLines = ({ stderr }: RunningProgram) =>
  [...stderr.matchAll(/EventStoreDB does not respond yet; waiting \((\d+) of 30 s\)/g)].map(([, seconds]) => seconds)

const serve = ({ commands, settings }: Context, ...options: string[]) =>
  commands.start(['serve', '--json', ...options], settings)

/** What makes a server unavailable, and available again. */
const outages: readonly [what: string, begin: (peer: Peer) => unknown, end: (peer: Peer) => unknown][] = [
  ['is silent', ({ faults }) => (faults.silent = true), ({ faults }) => (faults.silent = false)],
  ['is down', (peer) => peer.down(), (peer) => peer.up()],
  ['is not ready', ({ faults }) => (faults.notReady = true), ({ faults }) => (faults.notReady = false)],
]
for (const [description, begin, end] of outages) {
  test(`waits for a server that ${description}, and says so in the log and to clients`, async (context) => {
    await begin(context.peer)
    const url = `http://127.0.0.1:${(context.settings['PORT'] = String(await freePort()))}`
    const service = serve(context)
    await until('a line that it waits', () => waitingLines(service).length > 0)
    assert.equal(waitingLines(service), ['5'])
    const statuses = ['/health/live', '/health/ready', '/v4/diamond'].map(
      async (path) => (await fetch(url + path)).status,
    )
    assert.equal(await Promise.all(statuses), [200, 503, 503])
    await end(context.peer)
    assert.match(await service.line(), /"url"/)
    assert.is((await fetch(`${url}/v4/diamond`)).status, 401)
    service.kill('SIGTERM')
    assert.is((await service.ended).code, 0)
  })
}

test('waits for a server that becomes silent during the start, or during a start with --read-only', async (context) => {
  const first = serve(context)
  await first.line()
  first.kill('SIGTERM')
  await first.ended
  const { faults } = context.peer
  for (const options of [[], ['--read-only']]) {
    const readsBefore = faults.reads
    const service = serve(context, ...options)
    await until('the first read', () => faults.reads > readsBefore)
    faults.silent = true
    await until('a line that it waits', () => waitingLines(service).length > 0)
    faults.silent = false
    assert.match(await service.line(), /"url"/)
    service.kill('SIGTERM')
    assert.is((await service.ended).code, 0)
  }
})

test('ends with 1 and one line after 30 s without its server, and at once by a signal', async (context) => {
  await context.peer.down()
  const [service, stopped] = [serve(context), serve(context)]
  await until('a line that it waits', () => waitingLines(stopped).length > 0)
  stopped.kill('SIGTERM')
  for (const [program, reason] of [
    [stopped, /^adamant: EventStoreDB: .* not reachable: /m],
    [service, /^adamant: EventStoreDB did not respond for 30 s: EventStoreDB: .* not reachable: /m],
  ] as const) {
    const { code, out, err } = await program.ended
    assert.equal([code, out], [1, ''])
    assert.match(err, reason)
    assert.is(err.split('\n').filter((line) => line.startsWith('adamant: ')).length, 1, err)
  }
  assert.equal(waitingLines(service), ['5', '10', '15', '20', '25'])
})

test.run()
