import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StreamBuffer } from '../../../src/stores/eventstoredb/stream-buffer.ts'
import { failureOf } from '../../failure-of.ts'

const test = suite('a stream of the EventStoreDB client')

/** A stream on a node; `state.responses` counts what counts as a response of the server. */
function streamOnNode() {
  const stream = new Readable({ objectMode: true, read: () => undefined })
  const state = { responses: 0 }
  const node = { recordResponse: () => void state.responses++, onClose: () => () => undefined }
  return { stream, state, buffer: new StreamBuffer(stream, node) }
}

/** gRPC ends a stream as it reports an error. */
async function endWith(stream: Readable, error: Error): Promise<void> {
  stream.push(null)
  stream.emit('error', error)
  stream.resume()
  await nextTurn()
}

const grpcError = (code: number, message: string) => Object.assign(new Error(`${code} ${message}`), { code })

const LOCAL = [
  grpcError(13, 'INTERNAL: Received RST_STREAM with code 2 triggered by internal client error: Session closed'),
  grpcError(14, 'UNAVAILABLE: Connection dropped'),
  grpcError(1, 'CANCELLED: Call cancelled'),
  new Error('not from gRPC'),
]
for (const error of LOCAL) {
  test(`(${error.message}) does not take an error of the connection for a response of the server`, async () => {
    const { stream, state, buffer } = streamOnNode()
    const next = failureOf(buffer.next(60_000))
    await endWith(stream, error)
    assert.is(await next, error)
    assert.is(state.responses, 0)
  })
}

test("takes the server's errors and events for responses", async () => {
  for (const error of [grpcError(2, 'UNKNOWN: Exception was thrown by handler.'), grpcError(7, 'PERMISSION_DENIED')]) {
    const { stream, state, buffer } = streamOnNode()
    const next = failureOf(buffer.next(60_000))
    await endWith(stream, error)
    assert.is(await next, error)
    assert.is(state.responses, 1)
  }
  const { stream, state } = streamOnNode()
  stream.push({ event: undefined })
  await nextTurn()
  assert.is(state.responses, 1)
})

test('does not take its own end for a response of the server', async () => {
  const { stream, state, buffer } = streamOnNode()
  buffer.close()
  stream.push(null)
  await nextTurn()
  await nextTurn()
  assert.is(state.responses, 0)
})

test.run()
