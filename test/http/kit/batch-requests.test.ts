import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { batchRequests, batchCalls } from '../../../src/http/kit/server.ts'

const test = suite('requests that arrive together')

const afterImmediates = () => new Promise((done) => setImmediate(() => setImmediate(done)))

/** Records the started requests, with `|` between two callbacks of the event loop. @param takes milliseconds per request */
function recordingBatch(takes = 0) {
  const seen: string[] = []
  let isMarked = false
  let now = 0
  const begin = batchCalls(
    (name: string) => {
      now += takes
      seen.push(name)
      if (isMarked) return
      isMarked = true
      process.nextTick(() => {
        isMarked = false
        seen.push('|')
      })
    },
    () => now,
  )
  return { begin, seen: () => seen.join('') }
}

test('start in order and in one callback, after the last has arrived', async () => {
  const { begin, seen } = recordingBatch()
  for (const name of ['a', 'b', 'c']) begin(name)
  assert.is(seen(), '')
  await afterImmediates()
  begin('d')
  await afterImmediates()
  assert.is(seen(), 'abc|d|')
})

test('start in several callbacks if they are many, with none lost or out of order', async () => {
  const { begin, seen } = recordingBatch()
  const names = Array.from({ length: 150 }, (_, at) => `(${at})`)
  for (const name of names) begin(name)
  while (!seen().includes('(149)')) await afterImmediates()
  await afterImmediates()
  assert.equal(seen().replaceAll('|', ''), names.join(''))
  assert.is(seen().split('|').length, 4, 'three callbacks, and nothing after the last')
})

test('yield to timers in between if each takes long', async () => {
  const { begin, seen } = recordingBatch(6)
  for (const name of ['a', 'b', 'c']) begin(name)
  while (!seen().includes('c|')) await afterImmediates()
  assert.is(seen(), 'a|b|c|')
})

test('can arrive while others start', async () => {
  const { begin, seen } = recordingBatch()
  const again = batchCalls((name: string) => {
    begin(name)
    if (name === 'a') again('b')
  })
  again('a')
  while (!seen().includes('b')) await afterImmediates()
  assert.is(seen().replaceAll('|', ''), 'ab')
})

test('do not start if the client has disconnected', async () => {
  const startedUrls: (string | undefined)[] = []
  const batched = batchRequests((req, res) => {
    startedUrls.push(req.url)
    res.end('here')
  })
  const server = createServer((req, res) => {
    batched(req, res)
    if (req.url === '/gone') req.socket.destroy()
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.is(await fetch(`${url}/gone`).catch(() => 'hung up'), 'hung up')
    assert.is(await (await fetch(`${url}/there`)).text(), 'here')
    assert.equal(startedUrls, ['/there'])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test.run()
