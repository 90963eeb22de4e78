import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { batchRequests, batchCalls } from '../../../src/http/kit/server.ts'

const test = suite('requests that arrive together')

const behindImmediates = () => new Promise((done) => setImmediate(() => setImmediate(done)))

/** What was begun, in order, with `|` between two callbacks of the event loop. @param takes milliseconds that each takes */
function watched(takes = 0) {
  const seen: string[] = []
  let noted = false
  let now = 0
  const begin = batchCalls(
    (name: string) => {
      now += takes
      seen.push(name)
      if (noted) return
      noted = true
      process.nextTick(() => {
        noted = false
        seen.push('|')
      })
    },
    () => now,
  )
  return { begin, seen: () => seen.join('') }
}

test('are begun in their order and in one callback, behind the arrival of the last', async () => {
  const { begin, seen } = watched()
  for (const name of ['a', 'b', 'c']) begin(name)
  assert.is(seen(), '')
  await behindImmediates()
  begin('d')
  await behindImmediates()
  assert.is(seen(), 'abc|d|')
})

test('are begun in further callbacks where they are many, and none is forgotten or goes before another', async () => {
  const { begin, seen } = watched()
  const names = Array.from({ length: 150 }, (_, at) => `(${at})`)
  for (const name of names) begin(name)
  while (!seen().includes('(149)')) await behindImmediates()
  await behindImmediates()
  assert.equal(seen().replaceAll('|', ''), names.join(''))
  assert.is(seen().split('|').length, 4, 'three callbacks, and nothing behind the last')
})

test('let timers come between where each takes long', async () => {
  const { begin, seen } = watched(6)
  for (const name of ['a', 'b', 'c']) begin(name)
  while (!seen().includes('c|')) await behindImmediates()
  assert.is(seen(), 'a|b|c|')
})

test('may come while others are begun', async () => {
  const { begin, seen } = watched()
  const again = batchCalls((name: string) => {
    begin(name)
    if (name === 'a') again('b')
  })
  again('a')
  while (!seen().includes('b')) await behindImmediates()
  assert.is(seen().replaceAll('|', ''), 'ab')
})

test('are not begun for whoever has hung up meanwhile', async () => {
  const begun: (string | undefined)[] = []
  const answered = batchRequests((req, res) => {
    begun.push(req.url)
    res.end('here')
  })
  const server = createServer((req, res) => {
    answered(req, res)
    if (req.url === '/gone') req.socket.destroy()
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.is(await fetch(`${url}/gone`).catch(() => 'hung up'), 'hung up')
    assert.is(await (await fetch(`${url}/there`)).text(), 'here')
    assert.equal(begun, ['/there'])
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

test.run()
