import { randomUUID } from 'node:crypto'
import { checkPersonKey } from '../../commands/accounts/account-directory.ts'
import { checkLinkKey, WrongMasterKey } from '../../commands/installation/link-key.ts'
import { beginCopy, type LogMoveContext } from '../../commands/installation/move-log.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import {
  readOnlyStateOf,
  COPY_STREAM,
  LOG_STREAM,
  describeReadOnlyState,
} from '../../domain/installation/log-lifecycle.ts'
import type { Installation } from '../../wiring/installation.ts'
import { countItems, OperationFailure } from '../operation.ts'

type MoveContext = { readonly source: Installation; readonly target: Installation; readonly moving: LogMoveContext }

/** A copy that was begun, now or by an earlier run. */
export type MoveCopyState = {
  readonly copy: string
  /** What the target says where it is complete. */
  readonly completion: { readonly events: number; readonly digest: string } | undefined
}

/**
 * Begins to fill an empty target, or goes on with one that this source began to fill.
 * @param from names the source for people
 * @throws Failed where the target holds anything else, or another source is being copied into it
 */
export async function beginMove({ source, target, moving }: MoveContext, from: string): Promise<MoveCopyState> {
  const log = await source.store.identity()
  const [begun, ended] = await target.store.read(COPY_STREAM)
  if (begun === undefined) {
    const copy = randomUUID()
    await requireMovableSource(source, copy)
    await requireEmptyTarget(target)
    await beginCopy(moving, target.store, { copy, from, log })
    return { copy, completion: undefined }
  }
  if (begun.data['replay'] === true) throw new OperationFailure('The target is a replay: name an empty one')
  const copy = String(begun.data['copy'])
  if (begun.data['log'] !== log)
    throw new OperationFailure(`The target is a copy of another installation, ${String(begun.data['from'])}`)
  if (ended?.type === 'CopyAbandoned') throw new OperationFailure('This copy was given up: name an empty target')
  if (ended === undefined) return { copy, completion: undefined }
  return { copy, completion: { events: Number(ended.data['events']), digest: String(ended.data['digest']) } }
}

async function requireEmptyTarget({ store, vault, persons, files }: Installation): Promise<void> {
  const requireNone = async (what: string, items: AsyncIterable<unknown>) => {
    for await (const _ of items) throw new OperationFailure(`The target is not empty, its ${what}: name an empty one`)
  }
  await requireNone('log has events', store.readAll('start'))
  await requireNone('vault has entries', vault.contents())
  await requireNone('persons are there', persons.all())
  await requireNone('files are there', files.list())
}

/** @throws Failed for a source that is being moved by another copy, or is one that is not complete */
export async function requireMovableSource({ store }: Installation, copy: string): Promise<void> {
  const closed = await store.closedReason()
  if (closed !== undefined && closed.copy !== copy)
    throw new OperationFailure(`--from: ${describeReadOnlyState(closed)}`)
}

/** Whether the copy has fenced its source, by an earlier run. */
export async function isFenced({ store }: Installation, copy: string): Promise<boolean> {
  const [last] = await store.read(LOG_STREAM, { last: 1 })
  return readOnlyStateOf(last, [])?.copy === copy
}

/** Bytes at the start of what a master key sealed: the key's id. */
const KEY_ID_BYTES = 8

/**
 * Whatever the source's master keys sealed must open at the target: the key of its links, the vault, the mail queue.
 * @throws Failed before anything is copied
 */
export async function checkKeys(source: Installation, target: Installation): Promise<void> {
  await checkStoredKeys('source', source, source.keys)
  await checkStoredKeys('target', source, target.keys)
  for await (const item of source.vault.contents()) {
    if (item.kind === 'receipt') continue
    const id = item.sealed.subarray(0, KEY_ID_BYTES).toString('hex')
    for (const [name, { keys }] of [['source', source] as const, ['target', target] as const]) {
      if (![keys.current, keys.old].some((key) => key?.id === id))
        throw createWrongKeyError(name, `The vault was sealed with ${id}`)
    }
  }
}

async function checkStoredKeys(name: string, { store }: Installation, keys: MasterKeys): Promise<void> {
  try {
    await checkLinkKey(store, keys)
    await checkPersonKey(store, keys)
  } catch (error) {
    if (!(error instanceof WrongMasterKey)) throw error
    throw createWrongKeyError(name, error.message)
  }
}

const createWrongKeyError = (name: string, found: string) =>
  new OperationFailure(
    `The master key of the ${name} is not the one that the source was made with, so nothing was copied. ${found}`,
  )

/** What a move would take along. */
export type MovePlan = {
  readonly events: number
  readonly files: number
  readonly secrets: number
  readonly mails: number
}

/** Counts what is there now; more may come until the source is closed. */
export async function planMove({ store, files, vault }: Installation): Promise<MovePlan> {
  const kinds = { entry: 0, receipt: 0, mail: 0 }
  for await (const { kind } of vault.contents()) kinds[kind]++
  return {
    events: await countItems(store.readAll('start')),
    files: await countItems(files.list()),
    secrets: kinds.entry,
    mails: kinds.mail,
  }
}
