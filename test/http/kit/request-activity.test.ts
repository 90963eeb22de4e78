import { createServer, request, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EventEmitter, once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestActivity } from '../../../src/http/kit/request-activity.ts'

const test = suite('request activity')

/** Runs with a server whose requests are tracked, and a function that sends one. */
async function withServer(
  listener: RequestListener,
  run: (activity: RequestActivity, send: () => Promise<void>) => Promise<void>,
) {
  const activity = new RequestActivity()
  const server = createServer((req, res) => {
    activity.track(res)
    void listener(req, res)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const send = async () => {
    const sent = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).end()
    const [response] = await once(sent, 'response')
    response.resume()
    await once(response, 'end')
  }
  try {
    await run(activity, send)
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('is idle before the first request', () => assert.ok(new RequestActivity().isIdleFor(1_000_000)))

test('is not idle right after a quick request', async () =>
  await withServer(
    (_req, res) => void res.end(),
    async (activity, send) => {
      await send()
      assert.not(activity.isIdleFor(1_000_000))
      assert.ok(activity.isIdleFor(0))
    },
  ))

test('is not idle during a request, and is idle after the response', async () => {
  const arrivals = new EventEmitter()
  await withServer(
    (_req, res) => void arrivals.emit('request', res),
    async (activity, send) => {
      const arrived = once(arrivals, 'request')
      const answered = send()
      const [res] = (await arrived) as [ServerResponse]
      await new Promise((done) => setImmediate(done))
      assert.not(activity.isIdleFor(0))
      const closed = once(res, 'close')
      res.end()
      await Promise.all([answered, closed])
      assert.ok(activity.isIdleFor(0))
    },
  )
})

test('is idle during a long poll, also if its client has disconnected', async () => {
  const arrivals = new EventEmitter()
  await withServer(
    (_req, res) => void arrivals.emit('request', res),
    async (activity, send) => {
      for (const hasLeft of [false, true]) {
        const arrived = once(arrivals, 'request')
        const answered = send().catch(() => undefined)
        const [res] = (await arrived) as [ServerResponse]
        assert.not(activity.isIdleFor(0))
        const closed = once(res, 'close')
        if (hasLeft) res.destroy()
        if (hasLeft) await closed
        activity.excludeLongPoll(res)
        assert.ok(activity.isIdleFor(0))
        res.end()
        await Promise.all([answered, closed])
        assert.ok(activity.isIdleFor(0))
      }
    },
  )
})

test.run()
