import { randomUUID } from 'node:crypto'
import { checkPersonKey } from '../../commands/accounts/people.ts'
import { checkLinkKey, WrongMasterKey } from '../../commands/installation/link-key.ts'
import { beginCopy, type Moving } from '../../commands/installation/move-log.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import { closedBy, COPY_STREAM, LOG_STREAM, reasonOf } from '../../domain/installation/moving.ts'
import type { Installation } from '../../wiring/installation.ts'
import { counted, Failed } from '../operation.ts'

type Ends = { readonly source: Installation; readonly target: Installation; readonly moving: Moving }

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
export async function beginMove({ source, target, moving }: Ends, from: string): Promise<Begun> {
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

/** Bytes at the start of what a master key sealed: the key's id. */
const KEY_ID = 8

/**
 * Whatever the source's master keys sealed must open at the target: the key of its links, the vault, the mail queue.
 * @throws Failed before anything is copied
 */
export async function checkKeys(source: Installation, target: Installation): Promise<void> {
  await checkLinks('source', source, source.keys)
  await checkLinks('target', source, target.keys)
  for await (const item of source.vault.contents()) {
    if (item.kind === 'receipt') continue
    const id = item.sealed.subarray(0, KEY_ID).toString('hex')
    for (const [name, { keys }] of [['source', source] as const, ['target', target] as const]) {
      if (![keys.current, keys.old].some((key) => key?.id === id)) throw wrong(name, `The vault was sealed with ${id}`)
    }
  }
}

async function checkLinks(name: string, { store }: Installation, keys: MasterKeys): Promise<void> {
  try {
    await checkLinkKey(store, keys)
    await checkPersonKey(store, keys)
  } catch (error) {
    if (!(error instanceof WrongMasterKey)) throw error
    throw wrong(name, error.message)
  }
}

const wrong = (name: string, found: string) =>
  new Failed(
    `The master key of the ${name} is not the one that the source was made with, so nothing was copied. ${found}`,
  )

/** What a move would take along. */
export type Plan = {
  readonly events: number
  readonly files: number
  readonly secrets: number
  readonly mails: number
}

/** Counts what is there now; more may come until the source is closed. */
export async function planOf({ store, files, vault }: Installation): Promise<Plan> {
  const kinds = { entry: 0, receipt: 0, mail: 0 }
  for await (const { kind } of vault.contents()) kinds[kind]++
  return {
    events: await counted(store.readAll('start')),
    files: await counted(files.list()),
    secrets: kinds.entry,
    mails: kinds.mail,
  }
}
