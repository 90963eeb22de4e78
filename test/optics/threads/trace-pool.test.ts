import { constants, getPriority } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Cut } from '../../../src/optics/cut/cut.ts'
import { ImpossibleProportions } from '../../../src/optics/cut/proportions.ts'
import { referenceCut } from '../../../src/optics/score.ts'
import { openTracePool, type TracePoolOptions } from '../../../src/optics/threads/trace-pool.ts'
import { niceOfThreadsAddedBy } from '../../threads.ts'

// Runs alone: it counts the threads of its process.

const test = suite('a pool of tracing threads')

const round: Cut = { shape: 'Round', grade: 'Good', polish: 'Good', symmetry: 'Good' }

test('gives the same result as the shipped table without blocking the event loop', async () => {
  const pool = openTracePool()
  let turns = 0
  const clock = setInterval(() => turns++, 1)
  const traced = await pool.traceInWorker('reference')
  clearInterval(clock)
  await pool.close()
  assert.equal(traced, referenceCut)
  assert.ok(turns > 0)
})

test('rejects an impossible cut and continues tracing', async () => {
  const pool = openTracePool()
  const impossible = pool.traceInWorker({ ...round, measured: { starPct: 3 } })
  const possible = pool.traceInWorker(round)
  const refusal = await impossible.catch((error: unknown) => error)
  assert.instance(refusal, ImpossibleProportions)
  assert.ok((await possible).weighted > 0)
  await pool.close()
})

test('traces at the lowest priority only if configured so', async () => {
  if (process.platform !== 'linux') return console.log('only Linux has a priority for each thread: left out')
  const usual = await niceOfThreads({})
  const low = await niceOfThreads({ lowPriority: true })
  assert.not(usual.includes(constants.priority.PRIORITY_LOW))
  assert.is(low.filter((nice) => nice === constants.priority.PRIORITY_LOW).length, 1)
  assert.is(getPriority(), 0)
})

async function niceOfThreads(options: TracePoolOptions): Promise<number[]> {
  const pool = openTracePool(options)
  const nice = await niceOfThreadsAddedBy(() => pool.drawInWorker({ subject: { cut: round }, kind: 'aset' }))
  await pool.close()
  return nice
}

test('draws a PNG file', async () => {
  const pool = openTracePool()
  const png = await pool.drawInWorker({ subject: { cut: round }, kind: 'aset' })
  await pool.close()
  assert.is(Buffer.from(png.subarray(1, 4)).toString('latin1'), 'PNG')
})

test('rejects queued and later requests when it is closed', async () => {
  const pool = openTracePool()
  const requests = [pool.traceInWorker('reference'), pool.traceInWorker('reference')].map((result) =>
    result.catch(() => 'refused'),
  )
  await pool.close()
  assert.equal(await Promise.all(requests), ['refused', 'refused'])
  assert.is(await pool.traceInWorker('reference').catch(() => 'refused'), 'refused')
})

test.run()
