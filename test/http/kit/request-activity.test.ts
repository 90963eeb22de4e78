import { createServer, request, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventEmitter, once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestActivity } from '../../../src/http/kit/request-activity.ts'

const test = suite('traffic')

/** Runs with a server whose requests are seen, and what sends one and lets it go. */
async function serving(
  listener: RequestListener,
  run: (traffic: RequestActivity, send: () => Promise<void>) => Promise<void>,
) {
  const traffic = new RequestActivity()
  const server = createServer((req, res) => {
    traffic.track(res)
    void listener(req, res)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const send = async () => {
    const sent = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).end()
    const [answer] = await once(sent, 'response')
    answer.resume()
    await once(answer, 'end')
  }
  try {
    await run(traffic, send)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('rests before the first request', () => assert.ok(new RequestActivity().isIdleFor(1_000_000)))

test('does not rest right after a request that was answered at once', async () =>
  await serving(
    (_req, res) => void res.end(),
    async (traffic, send) => {
      await send()
      assert.not(traffic.isIdleFor(1_000_000))
      assert.ok(traffic.isIdleFor(0))
    },
  ))

test('does not rest while a request is under way, and does when its answer is out', async () => {
  const arrivals = new EventEmitter()
  await serving(
    (_req, res) => void arrivals.emit('request', res),
    async (traffic, send) => {
      const arrived = once(arrivals, 'request')
      const answered = send()
      const [res] = (await arrived) as [ServerResponse]
      await new Promise((done) => setImmediate(done))
      assert.not(traffic.isIdleFor(0))
      const closed = once(res, 'close')
      res.end()
      await Promise.all([answered, closed])
      assert.ok(traffic.isIdleFor(0))
    },
  )
})

test('rests while a request waits for something, also when its client had left before', async () => {
  const arrivals = new EventEmitter()
  await serving(
    (_req, res) => void arrivals.emit('request', res),
    async (traffic, send) => {
      for (const hasLeft of [false, true]) {
        const arrived = once(arrivals, 'request')
        const answered = send().catch(() => undefined)
        const [res] = (await arrived) as [ServerResponse]
        assert.not(traffic.isIdleFor(0))
        const closed = once(res, 'close')
        if (hasLeft) res.destroy()
        if (hasLeft) await closed
        traffic.excludeLongPoll(res)
        assert.ok(traffic.isIdleFor(0))
        res.end()
        await Promise.all([answered, closed])
        assert.ok(traffic.isIdleFor(0))
      }
    },
  )
})

test.run()
