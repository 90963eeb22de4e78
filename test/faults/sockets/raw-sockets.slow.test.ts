import * as fc from '../../fast-check.ts'
import { readdirSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expect } from '../../api/harness/request.ts'
import { withInstallation, type Serving } from '../serving.ts'
import { strangeRequests } from './strange-requests.ts'
import { sendWire, type Wire } from './wire.ts'
import { until } from '../../until.ts'

const REQUESTS = process.env['ADAMANT_FULL'] === '1' ? 21_000 : 2_000

/** Connections at a time. */
const LANES = 32

const test = suite('a service')

const portOf = ({ url }: Serving) => Number(new URL(url).port)

test('outlives CONNECT and Upgrade whose connections are reset', () =>
  withInstallation(async ({ serve }) => {
    const server = await serve()
    const upgrade = 'Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n'
    const requests = ['CONNECT x:1 HTTP/1.1\r\n\r\n', `GET / HTTP/1.1\r\n${upgrade}\r\n`, 'nonsense\r\n\r\n']
    for (let round = 0; round < 20; round++) {
      for (const request of requests) await sendWire(portOf(server), { pieces: [request], ending: 'reset' })
    }
    expect(200, await server.ann.get('/health/live'))
  }))

test('outlives requests that are half, wrong, aborted or reset, with every method, and serves others meanwhile', () =>
  withInstallation(async ({ serve }) => {
    const server = await serve()
    expect(200, await server.ann.get('/v2/constants'))
    const before = descriptorsOf(server.pid)
    const wires = fc.sample(strangeRequests(`Authorization: Bearer ${server.ann.token}`), REQUESTS)
    const others = serveOthers(server)
    await sendAll(portOf(server), wires)
    const answered = await others.stop()
    console.log(`NOTE ${REQUESTS} strange requests; beside them ${answered} usual ones`)
    expect(200, await server.ann.get('/health/ready'))
    await until('the connections to be gone', () => descriptorsOf(server.pid) <= before + FEW)
  }))

/** Files and connections that may have been opened meanwhile for good reasons. */
const FEW = 12

/** Open files and connections of a process; on Linux only, elsewhere 0. */
const descriptorsOf = (pid: number) => (process.platform === 'linux' ? readdirSync(`/proc/${pid}/fd`).length : 0)

async function sendAll(port: number, wires: readonly Wire[]): Promise<void> {
  const left = [...wires]
  const lane = async () => {
    for (let wire = left.pop(); wire !== undefined; wire = left.pop()) await sendWire(port, wire)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

/** Somebody who asks as usual all the while. @returns what ends it, with how often there was an answer */
function serveOthers({ ann }: Serving): { stop(): Promise<number> } {
  const asked = { stopped: false }
  let answered = 0
  const asking = (async () => {
    while (!asked.stopped) {
      expect(200, await ann.get('/v2/constants'))
      answered++
    }
  })()
  // Told of when it is waited for.
  asking.catch(() => undefined)
  return {
    async stop() {
      asked.stopped = true
      await asking
      assert.ok(answered > 0, 'nobody else asked anything')
      return answered
    },
  }
}

test.run()
