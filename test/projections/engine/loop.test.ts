import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { AppLogger } from '../../../src/runtime/logger.ts'
import { Loop } from '../../../src/projections/engine/loop.ts'
import { ReadModelNotBuilt } from '../../../src/stores/ports/read-store.ts'
import { withFakeTime } from '../../fake-time.ts'
import { until } from '../../until.ts'

const test = suite('a loop')

type LogLine = { readonly level: string; readonly sentence: string }

function recordingLog(): { log: AppLogger; lines: LogLine[] } {
  const lines: LogLine[] = []
  const at = (level: string) => (_found: unknown, sentence: string) => void lines.push({ level, sentence })
  const log = { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { log: log as unknown as AppLogger, lines }
}

test('can be started and stopped repeatedly, with a new signal for each run and one run at a time', async () => {
  const { log, lines } = recordingLog()
  const signals = new Set<AbortSignal>()
  let running = 0
  let most = 0
  const work = new Loop('follows', log, async (signal) => {
    most = Math.max(most, ++running)
    assert.not.ok(signal.aborted, 'the signal of an earlier run')
    signals.add(signal)
    await new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
    running--
  })
  for (let time = 1; time <= 10; time++) {
    work.start()
    await until('the run', () => signals.size === time)
    await work.stop()
  }
  assert.equal([most, running, lines.length, work.counters.runs], [1, 0, 0, 10])
})

test('waits 3 s for a run that hangs when it is stopped, and starts no other run before that one ends', () =>
  withFakeTime(async (time) => {
    const { log, lines } = recordingLog()
    const hanging: (() => void)[] = []
    const run = () => new Promise<void>((done) => hanging.push(done))
    const work = new Loop('hangs', log, run)
    work.start()
    await time.advance(0)
    assert.is(hanging.length, 1)
    let isStopped = false
    const stopping = work.stop().then(() => (isStopped = true))
    await time.advance(2_999)
    assert.is(isStopped, false)
    await time.advance(1)
    await stopping
    assert.match(lines[0]?.sentence ?? '', 'did not end in time after a stop')
    work.start()
    await time.advance(60_000)
    assert.is(hanging.length, 1, 'two runs at the same time')
    hanging[0]?.()
    await time.advance(60_000)
    assert.is(hanging.length, 2)
    hanging[1]?.()
    await work.stop()
  }))

test('logs an outage when it begins and when it ends, not every attempt', async () => {
  const { log, lines } = recordingLog()
  let tries = 0
  const work = new Loop('fails', log, async () => {
    tries++
    if (tries <= 4) throw new Error('away')
    return 'done'
  })
  work.start()
  await until('the end', () => lines.length >= 2)
  await work.stop()
  assert.equal(
    lines.map(({ level, sentence }) => `${level}: ${sentence}`),
    ['warn: interrupted; trying again', 'info: resumed after an interruption'],
  )
  assert.equal(work.counters, { name: 'fails', runs: 5, failures: 4 })
})

test('logs nothing while a read model that it needs is not built yet, and runs again', async () => {
  const { log, lines } = recordingLog()
  let tries = 0
  const work = new Loop('reads', log, async () => {
    tries++
    if (tries <= 2) throw new ReadModelNotBuilt('imports')
    return 'done'
  })
  work.start()
  await until('the end', () => tries === 3)
  await work.stop()
  assert.equal([lines, work.counters], [[], { name: 'reads', runs: 3, failures: 0 }])
})

test('that is woken runs at once, and again if it was woken during a run', async () => {
  let runs = 0
  const work: Loop = new Loop(
    'woken',
    recordingLog().log,
    async () => {
      if (++runs === 1) work.wake()
    },
    { intervalMs: 60_000 },
  )
  work.start()
  await until('the second run', () => runs === 2)
  work.wake()
  await until('the third run', () => runs === 3)
  await work.stop()
})

test.run()
