import { randomBytes, randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPeer, type Peer } from '../eventstoredb/peer/peer.ts'
import { CommandLine } from './command-line.ts'

type Context = { peer: Peer; commands: CommandLine; settings: Record<string, string> }
const test = suite<Context>('an EventStoreDB with events of others')
test.before.each(async (context) => {
  context.peer = await startPeer()
  context.commands = new CommandLine()
  context.settings = { EVENT_STORE: context.peer.url, MASTER_KEY: randomBytes(32).toString('base64') }
})
test.after.each(async ({ peer, commands }) => {
  await commands.remove()
  await peer.stop()
})

const append = ({ log }: Peer, stream: string, type: string, count = 1) =>
  log.append(
    stream,
    'any',
    Array.from({ length: count }, () => ({
      id: randomUUID(),
      type,
      contentType: 'application/json',
      data: Buffer.from('{}'),
      metadata: Buffer.of(),
    })),
  )

/** Commands that create an installation if there is none. */
const FIRST_COMMANDS = [
  ['serve'],
  ['serve', '--json'],
  ['user', 'add', 'a@example.com', '--password', 'right horse'],
  ['client', 'add', 'Stock sync'],
]

test('that belongs to another application is refused in one line that names streams, and nothing is written', async ({
  peer,
  commands,
  settings,
}) => {
  append(peer, '$stats-127.0.0.1:2113', '$statsCollected', 500)
  for (const stream of ['order-1', 'order-2', 'invoice-7', 'invoice-8']) append(peer, stream, 'Happened', 1_000)
  const eventsBefore = peer.log.all.length
  for (const words of FIRST_COMMANDS) {
    const { code, out, err } = await commands.run(words, { ...settings, LOG_LEVEL: 'error' })
    assert.equal([code, out], [1, ''], words.join(' '))
    assert.match(err, /^adamant: EventStoreDB has events in order-1, order-2, invoice-7, but no LogCreated: .*\n$/)
    assert.match(err, /start a separate server for this service, and set EVENT_STORE to its address/)
  }
  assert.is(peer.log.all.length, eventsBefore)
})

test("that are the server's own is used", async ({ peer, commands, settings }) => {
  for (const [stream, type] of [
    ['$users', '$UserCreated'],
    // A projection's result, in one of the server's streams.
    ['$projections-total-result', 'Result'],
    ['$$order-1', '$metadata'],
    // A deleted stream, and links of a projection to it.
    ['order-1', '$streamDeleted'],
    ['orders', '$>'],
  ] as const)
    append(peer, stream, type)
  const service = commands.start(['serve', '--json'], settings)
  assert.match(await service.line(), /"url"/)
  service.kill('SIGTERM')
  assert.is((await service.ended).code, 0)
})

test('that came later do not stop a start', async ({ peer, commands, settings }) => {
  for (let start = 0; start < 2; start++) {
    const service = commands.start(['serve', '--json'], settings)
    assert.match(await service.line(), /"url"/)
    append(peer, 'order-1', 'Ordered')
    append(peer, 'diamond-1', 'Ordered')
    service.kill('SIGTERM')
    assert.is((await service.ended).code, 0)
  }
})

test.run()
