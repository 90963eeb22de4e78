import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startPeer, type Peer } from './peer/peer.ts'
import { until } from '../until.ts'

/** Checks with the official client that the peer's responses equal the recorded ones of EventStoreDB 23.10.6. */
const test = suite<{ peer: Peer; client: EventStoreDBClient }>('the EventStoreDB peer')

test.before.each(async (given) => {
  given.peer = await startPeer()
  given.client = EventStoreDBClient.connectionString(given.peer.url)
})
test.after.each(async ({ peer, client }) => {
  await client.dispose()
  await peer.stop()
})

const event = (id: string = randomUUID()) => jsonEvent({ id, type: 'Counted', data: { number: 1 } })

const NO_STREAM = { expectedRevision: 'no_stream' } as const
const at = (expectedRevision: bigint) => ({ expectedRevision })

async function rejection(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise
  } catch (error) {
    return error as Record<string, unknown>
  }
  throw new Error('it was not rejected')
}

test('returns for an append its last revision and equal commit and prepare positions', async ({ client }) => {
  const { success, nextExpectedRevision, position } = await client.appendToStream('s', [event(), event()], NO_STREAM)
  assert.equal([success, nextExpectedRevision], [true, 1n])
  assert.ok(position !== undefined && position.commit === position.prepare)
})

test('rejects a wrong revision with the actual one and an empty message', async ({ client }) => {
  await client.appendToStream('s', [event(), event()], NO_STREAM)
  const { type, message, expectedVersion, actualVersion } = await rejection(client.appendToStream('s', event(), at(5n)))
  assert.equal([type, message, expectedVersion, actualVersion], ['wrong-expected-version', '', 5n, 1n])
  const missing = await rejection(client.appendToStream('t', event(), at(0n)))
  assert.equal([missing['expectedVersion'], missing['actualVersion']], [0n, 'no_stream'])
})

test('recognises a repeated append at its original revision, also after a restart, but stores it at the current one', async ({
  client,
  peer,
}) => {
  const [one, two] = [event(), event()]
  const first = await client.appendToStream('s', one, NO_STREAM)
  await client.appendToStream('s', two, at(0n))
  assert.equal(await client.appendToStream('s', one, NO_STREAM), first)
  assert.is((await client.appendToStream('s', [one, two], NO_STREAM)).nextExpectedRevision, 1n)
  assert.is((await client.appendToStream('s', two)).nextExpectedRevision, 1n)
  peer.log.clearCaches()
  assert.equal(await client.appendToStream('s', one, NO_STREAM), first)
  assert.is((await client.appendToStream('s', two)).nextExpectedRevision, 2n)
  assert.is((await client.appendToStream('s', one, at(2n))).nextExpectedRevision, 3n)
  assert.is((await rejection(client.appendToStream('s', [one, event()])))['type'], 'wrong-expected-version')
})

test('accepts exactly one of 20 parallel appends at the same expected revision', async ({ client }) => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => client.appendToStream('s', event(), NO_STREAM)),
  )
  assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
})

test('accepts at most 1 MiB per append', async ({ client }) => {
  const large = () => jsonEvent({ type: 'Large', data: { text: 'x'.repeat(600 * 1024) } })
  assert.is((await client.appendToStream('s', large(), NO_STREAM)).success, true)
  const error = await rejection(client.appendToStream('s', [large(), large()], at(0n)))
  assert.equal([error['type'], error['maxAppendSize'], error['message']], ['maximum-append-size-exceeded', 1048576, ''])
})

test('reports a missing stream as not found, and returns no events after the end of a stream', async ({ client }) => {
  const read = async (stream: string, options = {}) => {
    const revisions: unknown[] = []
    for await (const { event } of client.readStream(stream, options)) revisions.push(event?.revision)
    return revisions
  }
  const error = await rejection(read('missing'))
  assert.equal([error['type'], error['streamName']], ['stream-not-found', 'missing'])
  await client.appendToStream('s', [event(), event(), event()], NO_STREAM)
  assert.equal(await read('s'), [0n, 1n, 2n])
  assert.equal(await read('s', { fromRevision: 9n }), [])
  assert.equal(await read('s', { fromRevision: 50n, direction: 'backwards' }), [2n, 1n, 0n])
  assert.equal(await read('s', { fromRevision: 'end', direction: 'backwards', maxCount: 2 }), [2n, 1n])
  assert.equal(await read('s', { direction: 'backwards' }), [0n])
  assert.is((await rejection(read('s', { maxCount: 0 })))['message'], '2 UNKNOWN: Unexpected ReadStreamResult: Error')
})

test('reads $all from a position (inclusive) and subscribes after it (exclusive)', async ({ client }) => {
  const positions = []
  for (const stream of ['a-1', 'b-1', 'a-2']) {
    positions.push((await client.appendToStream(stream, event(), NO_STREAM)).position)
  }
  const [from] = positions
  if (from === undefined) throw new Error('no position')
  const read: unknown[] = []
  for await (const { event } of client.readAll({ fromPosition: from })) read.push(event?.streamId)
  assert.equal(read, ['a-1', 'b-1', 'a-2'])
  const filter = streamNameFilter({ prefixes: ['a-'] })
  const subscription = client.subscribeToAll({ fromPosition: from, filter })
  const received: string[] = []
  subscription.on('confirmation', () => received.push('confirmation'))
  subscription.once('caughtUp', () => {
    received.push('caughtUp')
    void client.appendToStream('a-3', event(), NO_STREAM)
  })
  for await (const { event } of subscription) {
    received.push(event?.streamId ?? '')
    if (event?.streamId === 'a-3') break
  }
  await subscription.unsubscribe()
  assert.equal(received, ['confirmation', 'a-2', 'caughtUp', 'a-3'])
})

test('fails on a position between two records', async ({ client }) => {
  await client.appendToStream('s', [event(), event()], NO_STREAM)
  const reading = async () => {
    for await (const _ of client.readAll({ fromPosition: { commit: 3n, prepare: 3n } })) continue
  }
  assert.is((await rejection(reading()))['message'], '2 UNKNOWN: Exception was thrown by handler.')
})

test('sends checkpoints for filtered events: with prepare 0 during catch-up, with the commit position when live', async ({
  client,
}) => {
  const checkpoints: { commit: bigint; prepare: bigint }[] = []
  await client.appendToStream(
    'other',
    Array.from({ length: 40 }, () => event()),
    NO_STREAM,
  )
  const checkpointReached = async (_: unknown, position: { commit: bigint; prepare: bigint }) =>
    void checkpoints.push(position)
  const filter = streamNameFilter({ prefixes: ['a-'], checkpointReached })
  const subscription = client.subscribeToAll({ filter })
  for (let revision = 39; checkpoints.length < 2; revision++) {
    await client.appendToStream('other', event(), at(BigInt(revision)))
  }
  await subscription.unsubscribe()
  const [history, live] = checkpoints
  assert.equal([history?.prepare, live?.prepare === live?.commit], [0n, true])
})

test('hides events of deleted streams and by metadata, and accepts their repeats without a position', async ({
  client,
}) => {
  const read = async (stream: string) => {
    const revisions: unknown[] = []
    for await (const { event } of client.readStream(stream)) revisions.push(event?.revision)
    return revisions
  }
  const three = [event(), event(), event()]
  await client.appendToStream('s', three, NO_STREAM)
  await client.setStreamMetadata('s', { maxCount: 1 })
  assert.equal(await read('s'), [2n])
  const hidden = await client.appendToStream('s', three.slice(0, 2), NO_STREAM)
  assert.equal([hidden.success, hidden.nextExpectedRevision, hidden.position], [true, 1n, undefined])
  assert.ok((await client.appendToStream('s', three, NO_STREAM)).position !== undefined)
  await client.deleteStream('s')
  assert.is((await rejection(read('s')))['type'], 'stream-not-found')
  assert.is((await client.appendToStream('s', three, NO_STREAM)).position, undefined)
  assert.is((await client.appendToStream('s', event(), NO_STREAM)).nextExpectedRevision, 3n)
  assert.equal(await read('s'), [3n])
  await client.setStreamMetadata('s', { truncateBefore: 9 })
  assert.equal(await read('s'), [])
  assert.is((await rejection(client.appendToStream('s', event(), NO_STREAM)))['type'], 'wrong-expected-version')
  await client.tombstoneStream('s')
  assert.is((await rejection(read('s')))['type'], 'stream-deleted')
  assert.is((await rejection(client.appendToStream('s', event(), at(3n))))['type'], 'stream-deleted')
})

test('stalls by fault when many single events of $all are read at once, and answers them and streams together', async ({
  client,
  peer,
}) => {
  await client.appendToStream('s', event(), NO_STREAM)
  const read = async (stream: AsyncIterable<unknown>) => {
    for await (const _ of stream) continue
  }
  peer.faults.stallMs = 1_000
  for (let count = 0; count < 10; count++) await read(client.readAll({ maxCount: 1 }))
  assert.is(peer.faults.stalls, 0)
  const answered: string[] = []
  const stalled = Array.from({ length: 10 }, () => read(client.readAll({ maxCount: 1 })))
  await until('a stall', () => peer.faults.stalls === 1)
  stalled.push(read(client.readStream('s')).then(() => void answered.push('stream')))
  await stalled[0]
  answered.push('$all')
  await Promise.all(stalled)
  assert.is(answered.length, 2)
  assert.is(peer.faults.stalls, 1)
})

test('closes a connection whose keep-alive ping stays unanswered, with an error code', async ({ peer }) => {
  peer.faults.keepAlive = { intervalMs: 50, timeoutMs: 50 }
  const socket = connect(peer.port, '127.0.0.1')
  const received: Buffer[] = []
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  // A client that sends its preface and empty settings, and then nothing: RFC 9113, section 3.4.
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0')
  await once(socket, 'close')
  const goaway = framesOf(Buffer.concat(received)).find(({ type }) => type === GOAWAY)
  assert.is(goaway?.payload.readUInt32BE(4), constants.NGHTTP2_INTERNAL_ERROR)
})

/** Frame type: RFC 9113, section 6.8. */
const GOAWAY = 7

function framesOf(bytes: Buffer): { readonly type: number; readonly payload: Buffer }[] {
  const frames = []
  for (let from = 0; from < bytes.length;) {
    const end = from + 9 + bytes.readUIntBE(from, 3)
    frames.push({ type: bytes.readUInt8(from + 3), payload: bytes.subarray(from + 9, end) })
    from = end
  }
  return frames
}

test('fails calls while it is down and accepts them when it is up again', async ({ client, peer }) => {
  await client.appendToStream('s', event(), NO_STREAM)
  await peer.down()
  const errors = [await rejection(client.appendToStream('s', event(), at(0n)))]
  errors.push(await rejection(client.appendToStream('s', event(), at(0n))))
  assert.ok(
    errors.every(({ code }) => code === 14),
    String(errors),
  )
  await peer.up()
  let revision: unknown
  await until('an append', async () => {
    const appended = client.appendToStream('s', event(), at(0n))
    revision = await appended.then(
      ({ nextExpectedRevision }) => nextExpectedRevision,
      () => undefined,
    )
    return revision !== undefined
  })
  assert.is(revision, 1n)
})

test.run()
