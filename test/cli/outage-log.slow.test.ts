import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { areEmbedded } from '../engines.ts'
import { startPeerProcess } from '../eventstoredb/peer-process.ts'
import { CommandLine } from './command-line.ts'
import { until } from '../until.ts'

const REQUESTS = 60

/** Warnings about settings, which may be written after the line with the URL. */
const isWarning = (line: string) => line.startsWith('{"level":40,')

const test = suite('the log of a service whose event store becomes unavailable')

test(`has one line about the outage, however many requests fail, and no stack`, async () => {
  const peer = await startPeerProcess()
  const commands = new CommandLine()
  try {
    const settings = { EVENT_STORE: peer.url, MASTER_KEY: randomBytes(32).toString('base64'), LOG_LEVEL: 'warn' }
    const server = commands.start(['serve', '--json'], settings)
    const { url } = JSON.parse(await server.line()) as { url: string }
    await peer.down()
    const body = new URLSearchParams({ grant_type: 'password', username: 'a', password: 'b', client_id: '1_x' })
    body.set('client_secret', 'y')
    const logIn = () => fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body: new URLSearchParams(body) })
    let refused = 0
    for (let count = 0; count < REQUESTS; count++) if ((await logIn()).status === 503) refused++
    assert.is(refused, REQUESTS)
    const errors = () => server.stderr.split('\n').filter((line) => line !== '' && !isWarning(line))
    await until('a line about the outage', () => errors().length > 0)
    assert.is(errors().length, 1, server.stderr)
    assert.match(errors().join(), /"store":"EventStoreDB","reason":"EventStoreDB: .*a store is unavailable/)
    assert.not.match(server.stderr, /stack/)
    await peer.up()
    await until('a response without an error', async () => (await logIn()).status < 500)
    server.kill('SIGTERM')
    assert.is((await server.ended).code, 0)
  } finally {
    await commands.remove()
    await peer.stop()
  }
})

if (areEmbedded) test.run()
