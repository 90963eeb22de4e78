import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { cutKey, type Cut } from '../../src/domain/scoring/cut/cut.ts'
import { ImpossibleProportions } from '../../src/domain/scoring/cut/proportions.ts'
import { referenceCut, tracedCuts } from '../../src/domain/scoring/score.ts'
import { TracedCutCache } from '../../src/scoring/traced-cut-cache.ts'
import { plain } from '../domain/scoring/cuts.ts'

const test = suite('traced cuts')

const thick: Cut = { ...plain('Round', 'Good'), girdle: ['Thick'] }

/** A pool that answers as it is told, and knows what it traced. */
function tracing(answer: (cut: Cut) => typeof referenceCut = () => referenceCut) {
  const traced: string[] = []
  const impossible: string[] = []
  const pool = {
    traceInWorker: async (cut: Cut | 'reference') => {
      if (cut === 'reference') return referenceCut
      traced.push(cutKey(cut))
      return answer(cut)
    },
  }
  return { traced, impossible, traces: new TracedCutCache(pool, (cut) => impossible.push(cutKey(cut))) }
}

test('are at hand where the shipped table has them', () => {
  const { traced, traces } = tracing()
  assert.is(traces.get(plain('Heart', 'Good')), tracedCuts['Heart, Good'])
  assert.equal(traced, [])
})

test('are traced once, whoever asks, and at hand from then on', async () => {
  const { traced, traces } = tracing()
  await Promise.all([traces.get(thick), traces.get({ ...thick }), traces.get(thick)])
  assert.is(traces.get({ ...thick }), referenceCut)
  assert.equal(traced, [cutKey(thick)])
})

test('that failed are traced again when they are asked for again', async () => {
  let fails = true
  const { traces } = tracing(() => {
    if (fails) throw new Error('the thread ended')
    return referenceCut
  })
  assert.is(await Promise.resolve(traces.get(thick)).catch(() => 'failed'), 'failed')
  fails = false
  assert.is(await traces.get(thick), referenceCut)
})

test('of measures that no stone can have are those of its grade', async () => {
  const { impossible, traces } = tracing(() => {
    throw new ImpossibleProportions('stars may be 20 to 80 %')
  })
  const wrong: Cut = { ...plain('Oval', 'Fair'), measured: { starPct: 3 } }
  assert.is(await traces.get(wrong), tracedCuts['Oval, Fair'])
  assert.is(traces.get(wrong), tracedCuts['Oval, Fair'])
  assert.equal(impossible, [cutKey(wrong)])
})

test('of a cut that can not be at all are null, which is found once', async () => {
  const { traced, traces } = tracing(() => {
    throw new ImpossibleProportions('the culet is above the table')
  })
  assert.is(await traces.get(thick), null)
  assert.is(traces.get(thick), null)
  assert.is(traced.length, 1)
})

test('are kept up to 20,000, the oldest go first', async () => {
  const { traced, traces } = tracing()
  const cut = (tablePct: number): Cut => ({ ...thick, measured: { tablePct } })
  for (let index = 0; index <= 20_000; index++) await traces.get(cut(index))
  assert.is(traces.get(cut(20_000)), referenceCut)
  assert.is(traced.length, 20_001)
  await traces.get(cut(0))
  assert.is(traced.length, 20_002)
})

test.run()
