import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cutKey, type Cut } from '../../../src/optics/cut/cut.ts'
import { ImpossibleProportions } from '../../../src/optics/cut/proportions.ts'
import { findTracedCut, referenceCut } from '../../../src/optics/score.ts'
import { TracedCutCache } from '../../../src/optics/threads/traced-cut-cache.ts'
import { nominalCut } from '../cuts.ts'

const test = suite('the cache of traced cuts')

const thick: Cut = { ...nominalCut('Round', 'Good'), girdle: ['Thick'] }

/** A pool with the given results that records what it traced. */
function tracing(resultOf: (cut: Cut) => typeof referenceCut = () => referenceCut) {
  const traced: string[] = []
  const impossible: string[] = []
  const pool = {
    traceInWorker: async (cut: Cut | 'reference') => {
      if (cut === 'reference') return referenceCut
      traced.push(cutKey(cut))
      return resultOf(cut)
    },
  }
  return { traced, impossible, traces: new TracedCutCache(pool, (cut) => impossible.push(cutKey(cut))) }
}

test('finds a cut of the shipped table, without tracing it', () => {
  const { traced, traces } = tracing()
  assert.equal(traces.find(nominalCut('Heart', 'Good')), findTracedCut(nominalCut('Heart', 'Good')))
  assert.equal(traced, [])
})

test('traces a cut once for concurrent requests, and then finds it', async () => {
  const { traced, traces } = tracing()
  await Promise.all([traces.trace(thick), traces.trace({ ...thick }), traces.trace(thick)])
  assert.is(traces.find({ ...thick }), referenceCut)
  assert.equal(traced, [cutKey(thick)])
})

test('traces a cut again after a failure', async () => {
  let fails = true
  const { traces } = tracing(() => {
    if (fails) throw new Error('the thread ended')
    return referenceCut
  })
  assert.is(await traces.trace(thick).catch(() => 'failed'), 'failed')
  fails = false
  assert.is(await traces.trace(thick), referenceCut)
})

test('returns the cut of the same grade for impossible measurements', async () => {
  const { impossible, traces } = tracing(() => {
    throw new ImpossibleProportions('stars may be 20 to 80 %')
  })
  const wrong: Cut = { ...nominalCut('Oval', 'Fair'), measured: { starPct: 3 } }
  assert.equal(await traces.trace(wrong), findTracedCut(nominalCut('Oval', 'Fair')))
  assert.equal(traces.find(wrong), findTracedCut(nominalCut('Oval', 'Fair')))
  assert.equal(impossible, [cutKey(wrong)])
})

test('returns null for an impossible cut, and caches it', async () => {
  const { traced, traces } = tracing(() => {
    throw new ImpossibleProportions('the culet is above the table')
  })
  assert.is(await traces.trace(thick), null)
  assert.is(traces.find(thick), null)
  assert.is(traced.length, 1)
})

test('holds up to 20,000 cuts and evicts the oldest first', async () => {
  const { traced, traces } = tracing()
  const cut = (tablePct: number): Cut => ({ ...thick, measured: { tablePct } })
  for (let index = 0; index <= 20_000; index++) await traces.trace(cut(index))
  assert.is(traces.find(cut(20_000)), referenceCut)
  assert.is(traced.length, 20_001)
  await traces.trace(cut(0))
  assert.is(traced.length, 20_002)
})

test.run()
