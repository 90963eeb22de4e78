import { Registry } from 'prom-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import type { ReadModelBuild, ReadStore } from '../../src/stores/ports/read-store.ts'
import { StoreMetrics } from '../../src/wiring/store-metrics.ts'
import { readExposition, sumOf } from '../monitoring/exposition.ts'
import { withStores } from '../open-stores.ts'

const test = suite('the durations of store calls')

const { declaration } = diamonds

async function openPendingBuild(reads: ReadStore): Promise<ReadModelBuild> {
  await reads.beginPendingBuild(declaration)
  const pending = await reads.pendingBuild(declaration)
  if (pending === undefined) throw new Error('no build is pending')
  return reads.openPendingBuild(declaration, pending)
}

const OPENINGS: Readonly<Record<string, (reads: ReadStore) => Promise<ReadModelBuild>>> = {
  live: (reads) => reads.live(declaration),
  begin: (reads) => reads.begin(declaration),
  beginPendingBuild: (reads) => reads.beginPendingBuild(declaration),
  openPendingBuild,
}

for (const [method, open] of Object.entries(OPENINGS)) {
  test(`include the writes of a read model's build that was opened by ${method}`, () =>
    withStores(async ({ reads: store }) => {
      const registry = new Registry()
      const reads = new StoreMetrics(registry).instrument('read-models', 'sqlite', store)
      const build = await open(reads)
      await build.write([], { position: { commit: 1n, prepare: 1n }, log: 'log', event: null })
      const written = { store: 'read-models', operation: 'write' }
      const metrics = readExposition(await registry.metrics())
      assert.is(sumOf(metrics, 'adamant_store_duration_seconds_count', written), 1)
    }))
}

test.run()
