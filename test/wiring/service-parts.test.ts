import { Registry } from 'prom-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { AppLogger } from '../../src/runtime/logger.ts'
import { ServiceParts, type ServicePart } from '../../src/wiring/service-parts.ts'
import { withFakeTime } from '../fake-time.ts'

const test = suite('closing the service parts')

/** Timeout of each stage in ms. The documented limit for all of them is 10 s. */
const STAGES = [
  ['requests', 5_500],
  ['dependencies', 1_500],
  ['stores', 1_500],
] as const
const DOCUMENTED_LIMIT_MS = 10_000

function openParts() {
  const warnings: string[] = []
  const warn = ({ part }: { part: string }, sentence: string) => void warnings.push(`${part}: ${sentence}`)
  return { warnings, parts: new ServiceParts({ warn } as unknown as AppLogger, new Registry()) }
}

const hanging = (stage: ServicePart['stage'], stoppedStages: string[]): ServicePart => ({
  stage,
  name: stage,
  stop: () => {
    stoppedStages.push(stage)
    return new Promise(() => undefined)
  },
})

test('ends each stage at its timeout, and all stages in less than 10 s, even if every part hangs', () =>
  withFakeTime(async (time) => {
    const { warnings, parts } = openParts()
    const stoppedStages: string[] = []
    for (const [stage] of STAGES.toReversed()) parts.add(hanging(stage, stoppedStages))
    let isClosed = false
    const started = time.now()
    void parts.close().then(() => (isClosed = true))
    for (const [index, [stage, milliseconds]] of STAGES.entries()) {
      await time.advance(milliseconds - 1)
      assert.equal(
        stoppedStages,
        STAGES.slice(0, index + 1).map(([name]) => name),
      )
      assert.is(warnings.length, index)
      await time.advance(1)
      assert.is(warnings[index], `${stage}: a part of the service did not stop in time; no longer waiting for it`)
    }
    assert.ok(isClosed)
    assert.ok(time.now() - started < DOCUMENTED_LIMIT_MS)
  }))

test('does not wait for the timeout of a stage whose parts have stopped or failed', () =>
  withFakeTime(async (time) => {
    const { warnings, parts } = openParts()
    parts.add({ stage: 'requests', name: 'well', stop: async () => undefined })
    parts.add({ stage: 'dependencies', name: 'badly', stop: () => Promise.reject(new Error('badly')) })
    parts.add({
      stage: 'stores',
      name: 'at once',
      stop: () => {
        throw new Error('at once')
      },
    })
    const started = time.now()
    await parts.close()
    assert.is(time.now(), started)
    assert.equal(warnings, [
      'badly: a part of the service failed to stop',
      'at once: a part of the service failed to stop',
    ])
  }))

test('stops each part once, even if it is repeated', async () => {
  const { parts } = openParts()
  let stops = 0
  parts.add({ stage: 'stores', name: 'once', stop: async () => stops++ })
  await Promise.all([parts.close(), parts.close()])
  await parts.close()
  assert.is(stops, 1)
})

test.run()
