import * as fc from '../../fast-check.ts'
import { readdirSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { withInstallation, type Serving } from '../serving.ts'
import { strangeRequests } from './strange-requests.ts'
import { sendPiecewise, type PiecewiseRequest } from './piecewise-request.ts'
import { until } from '../../until.ts'

const REQUESTS = process.env['ADAMANT_FULL'] === '1' ? 21_000 : 2_000

/** Concurrent connections. */
const LANES = 32

const test = suite('a service')

const portOf = ({ url }: Serving) => Number(new URL(url).port)

test('survives CONNECT and Upgrade requests whose connections are reset', () =>
  withInstallation(async ({ serve }) => {
    const server = await serve()
    const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    const requests = ['CONNECT x:1 HTTP/1.1\r\n\r\n', `GET / HTTP/1.1\r\n${upgrade}\r\n`, 'nonsense\r\n\r\n']
    for (let round = 0; round < 20; round++) {
      for (const request of requests) await sendPiecewise(portOf(server), { pieces: [request], ending: 'reset' })
    }
    expect(200, await server.ann.get('/health/live'))
  }))

test('survives incomplete, malformed, aborted and reset requests with any method, and serves others meanwhile', () =>
  withInstallation(async ({ serve }) => {
    const server = await serve()
    expect(200, await server.ann.get('/v2/constants'))
    const before = descriptorsOf(server.pid)
    const requests = fc.sample(strangeRequests(`Authorization: Bearer ${server.ann.token}`), REQUESTS)
    const otherRequests = serveOthers(server)
    await sendAll(portOf(server), requests)
    const served = await otherRequests.stop()
    console.log(`NOTE ${REQUESTS} strange requests, ${served} normal requests meanwhile`)
    expect(200, await server.ann.get('/health/ready'))
    await until('the connections to be closed', () => descriptorsOf(server.pid) <= before + FEW)
  }))

/** Files and connections that the service may have opened legitimately meanwhile. */
const FEW = 12

/** Number of open files and connections of a process; 0 on other systems than Linux. */
const descriptorsOf = (pid: number) => (process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : 0)

async function sendAll(port: number, requests: readonly PiecewiseRequest[]): Promise<void> {
  const remaining = [...requests]
  const lane = async () => {
    for (let request = remaining.pop(); request !== undefined; request = remaining.pop())
      await sendPiecewise(port, request)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** Sends normal requests until `stop` is called. `stop` returns their number. */
function serveOthers({ ann }: Serving): { stop(): Promise<number> } {
  const state = { stopped: false }
  let served = 0
  const requesting = (async () => {
    while (!state.stopped) {
      expect(200, await ann.get('/v2/constants'))
      served++
    }
  })()
  // `stop` reports errors.
  requesting.catch(() => undefined)
  return {
    async stop() {
      state.stopped = true
      await requesting
      assert.ok(served > 0, 'no normal request was sent')
      return served
    },
  }
}

test.run()
