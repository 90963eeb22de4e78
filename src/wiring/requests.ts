import type { Installation } from './installation.ts'
import type { OpenParts } from './open-parts.ts'
import { ActiveRunner } from '../projections/engine/active-runner.ts'
import { LOG_STREAM } from '../domain/installation/moving.ts'
import { ReactionRunner } from '../projections/engine/reaction.ts'
import { requestFinishing } from '../reactions/bulk/request-finishing.ts'
import type { EventStore } from '../stores/ports/event-store.ts'

/** Where all is written at once, nothing is ever begun and not ended; but a log that was copied may have been another. */
async function mayBeHalf(store: EventStore): Promise<boolean> {
  return !store.atomicMany || (await store.read(LOG_STREAM, { last: 1 })).some(({ type }) => type === 'LogOpened')
}

/** Finishes what another process accepted and did not end, in the one process that holds the reaction's lease. */
export async function openRequestFinishing({ settings, store, reads, writing, log }: Installation, parts: OpenParts) {
  const runner = new ReactionRunner(requestFinishing({ writing, log }), store, reads, log)
  const active = new ActiveRunner(runner, reads, await reads.model(runner.declaration), log)
  parts.add({ stage: 'requests', name: 'half bulks', stop: () => active.stop(), figures: () => active.figures })
  return {
    async start(): Promise<void> {
      if (settings.ROLES.includes('projections') && (await mayBeHalf(store))) await active.start()
    },
  }
}
