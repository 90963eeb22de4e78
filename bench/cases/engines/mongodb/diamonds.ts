import { randomUUID } from 'node:crypto'
import type { DiamondCreated } from '../../../../src/domain/diamond/diamond.ts'
import { diamonds } from '../../../../src/projections/diamonds/diamonds.ts'
import type { Checkpoint, Document, DocumentWrite } from '../../../../src/stores/ports/read-store.ts'

/** Owner of all diamonds here. */
export const OWNER = 7

/** A diamond as the projection writes it, without scores. */
export function diamondDocument(id: number): Document {
  const set = { sku: `BENCH-${id}`, cutShape: 2, carat: 0.73, price: 1_000 + (id % 1_000), isColored: id % 10 === 0 }
  const created: DiamondCreated = { type: 'DiamondCreated', data: { id, owner: OWNER, date: 1_795_287_363 + id, set } }
  const position = { commit: BigInt(id), prepare: BigInt(id) }
  const event = { ...created, stream: `diamond-${id}`, revision: 0n, id: randomUUID(), position, metadata: METADATA }
  const followed = diamonds.evolve(undefined, event, id)
  if (followed === undefined) throw new Error('a created diamond is live')
  return diamonds.toDocument(followed)
}

export const writesOf = (ids: readonly number[], revision: bigint): DocumentWrite[] =>
  ids.map((id) => ({ put: diamondDocument(id), revision }))

export const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at)

const LOG = randomUUID()

const METADATA = { schema: '1', at: new Date(0).toISOString() }

export function checkpointAt(commit: bigint): Checkpoint {
  const position = { commit, prepare: commit }
  return { position, log: LOG, event: { id: randomUUID(), position } }
}
