import { randomUUID } from 'node:crypto'
import { beginCopy, type Moving } from '../../commands/installation/move-log.ts'
import { closedBy, COPY_STREAM, LOG_STREAM, reasonOf } from '../../domain/installation/moving.ts'
import type { Installation } from '../../wiring/installation.ts'
import { Failed } from '../operation.ts'

/** A copy that was begun, now or by an earlier run. */
export type Begun = {
  readonly copy: string
  /** What the target says where it is complete. */
  readonly done: { readonly events: number; readonly digest: string } | undefined
}

/**
 * Begins to fill an empty target, or goes on with one that this source began to fill.
 * @param from names the source for people
 * @throws Failed where the target holds anything else, or another source is being copied into it
 */
export async function begin(moving: Moving, source: Installation, target: Installation, from: string): Promise<Begun> {
  const log = await source.store.identity()
  const [begun, ended] = await target.store.read(COPY_STREAM)
  if (begun === undefined) {
    const copy = randomUUID()
    await mustBeSource(source, copy)
    await mustBeEmpty(target)
    await beginCopy(moving, target.store, { copy, from, log })
    return { copy, done: undefined }
  }
  if (begun.data['replay'] === true) throw new Failed('The target is a replay: name an empty one')
  const copy = String(begun.data['copy'])
  if (begun.data['log'] !== log)
    throw new Failed(`The target is a copy of another installation, ${String(begun.data['from'])}`)
  if (ended?.type === 'CopyAbandoned') throw new Failed('This copy was given up: name an empty target')
  if (ended === undefined) return { copy, done: undefined }
  return { copy, done: { events: Number(ended.data['events']), digest: String(ended.data['digest']) } }
}

async function mustBeEmpty({ store, vault, persons, files }: Installation): Promise<void> {
  const held = async (what: string, items: AsyncIterable<unknown>) => {
    for await (const _ of items) throw new Failed(`The target is not empty, its ${what}: name an empty one`)
  }
  await held('log has events', store.readAll('start'))
  await held('vault has entries', vault.contents())
  await held('persons are there', persons.all())
  await held('files are there', files.list())
}

/** @throws Failed for a source that is being moved by another copy, or is one that is not complete */
export async function mustBeSource({ store }: Installation, copy: string): Promise<void> {
  const closed = await store.closed()
  if (closed !== undefined && closed.copy !== copy) throw new Failed(`--from: ${reasonOf(closed)}`)
}

/** Whether the copy has fenced its source, by an earlier run. */
export async function isFenced({ store }: Installation, copy: string): Promise<boolean> {
  const [last] = await store.read(LOG_STREAM, { last: 1 })
  return closedBy(last, [])?.copy === copy
}
