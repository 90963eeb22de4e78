import type { ReadModelBuild, Document } from '../../../../src/stores/ports/read-store.ts'
import type { Case, Measurement } from '../../../group.ts'
import { perCall, overhead } from '../overhead.ts'
import { writeGuarded, writeUpserts, type BareDiamonds } from './bare.ts'
import { checkpointAt, diamondDocument, range, writesOf } from './diamonds.ts'

/** The same read model, with the adapter and with the bare driver. */
export type AdapterAndDriver = { readonly build: ReadModelBuild; readonly bare: BareDiamonds }

/** Diamonds per batch. */
const NEW = 250
/** FerretDB commits each replacement separately and scans the collection for a guarded one. */
const CHANGED = 20
const STONES = 200
/** Batches per measurement. */
const BATCHES = 2

export function batchesOfNew({ build, bare }: AdapterAndDriver): Case {
  return overhead(
    `MongoDB: a batch of ${NEW} new diamonds`,
    batches(NEW, (ids, at) => build.write(writesOf(ids, at), checkpointAt(at))),
    batches(NEW, (ids, at) => writeGuarded(bare, ids.map(diamondDocument), at)),
  )
}

/** Against upserts without guards and counts. Recorded only, without a target. */
export function batchesAsUpserts({ build, bare }: AdapterAndDriver): Case {
  const { target: _, ...recorded } = overhead(
    `MongoDB: a batch of ${CHANGED} new diamonds, against upserts`,
    batches(CHANGED, (ids, at) => build.write(writesOf(ids, at), checkpointAt(at))),
    batches(CHANGED, (ids, at) => writeUpserts(bare, ids.map(diamondDocument), at)),
  )
  return recorded
}

function batches(size: number, write: (ids: readonly number[], at: bigint) => Promise<void>): Measurement {
  let batch = 0
  return perCall(BATCHES, () => write(range(1 + size * batch, size), BigInt(++batch)))
}

export async function batchesOfChanges({ build, bare }: AdapterAndDriver): Promise<Case> {
  const ids = range(1, STONES)
  await build.write(writesOf(ids, 1n), checkpointAt(1n))
  await writeGuarded(bare, ids.map(diamondDocument), 1n)
  return overhead(
    `MongoDB: a batch of ${CHANGED} changed diamonds among ${STONES}`,
    changes((changed, at) =>
      build.write(
        changed.map((put) => ({ put, revision: at })),
        checkpointAt(at),
      ),
    ),
    changes((changed, at) => writeGuarded(bare, changed, at)),
  )
}

function changes(write: (changed: readonly Document[], at: bigint) => Promise<void>): Measurement {
  let batch = 1
  return perCall(BATCHES, () => {
    const from = 1 + ((batch * CHANGED) % STONES)
    const changed = range(from, CHANGED).map((id) => ({ ...diamondDocument(id), ownersRevision: batch }))
    return write(changed, BigInt(++batch))
  })
}
