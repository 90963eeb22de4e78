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
} from '../../domain/installation/read-only-state.ts'
import type { Installation } from '../../wiring/installation.ts'
import { countItems, OperationFailure } from '../operation.ts'

type BeginMoveOptions = {
  readonly source: Installation
  readonly target: Installation
  readonly moveContext: LogMoveContext
}

/** A copy that was begun by this run or an interrupted one. */
type MoveCopyState = {
  readonly copy: string
  /** Recorded by the target when the copy is complete. */
  readonly completion: { readonly events: number; readonly digest: string } | undefined
}

/**
 * Begins to fill an empty target, or resumes an interrupted copy from the same source.
 * @param from address of the source to show, without passwords
 * @throws OperationFailure if the target has other contents, or is a copy of another source
 */
export async function beginMove(
  { source, target, moveContext }: BeginMoveOptions,
  from: string,
): Promise<MoveCopyState> {
  const log = await source.store.identity()
  const [beginEvent, endEvent] = await target.store.readStream(COPY_STREAM)
  if (beginEvent === undefined) {
    const copy = randomUUID()
    await requireMovableSource(source, copy)
    await requireEmptyTarget(target)
    await beginCopy(moveContext, target.store, { copy, from, log })
    return { copy, completion: undefined }
  }
  if (beginEvent.data['replay'] === true) throw new OperationFailure('The target is a replay: choose an empty target')
  const copy = String(beginEvent.data['copy'])
  if (beginEvent.data['log'] !== log)
    throw new OperationFailure(`The target is a copy of another installation, ${String(beginEvent.data['from'])}`)
  if (endEvent?.type === 'CopyAbandoned') throw new OperationFailure('This move was abandoned: choose an empty target')
  if (endEvent === undefined) return { copy, completion: undefined }
  return { copy, completion: { events: Number(endEvent.data['events']), digest: String(endEvent.data['digest']) } }
}

async function requireEmptyTarget({ store, vault, persons, files }: Installation): Promise<void> {
  const requireNone = async (reason: string, items: AsyncIterable<unknown>) => {
    for await (const _ of items)
      throw new OperationFailure(`The target is not empty (${reason}): choose an empty target`)
  }
  await requireNone('its log has events', store.readAll('start'))
  await requireNone('its vault has entries', vault.contents())
  await requireNone('it has personal data', persons.all())
  await requireNone('it has files', files.list())
}

/** @throws OperationFailure if the source is fenced by another move, or is an incomplete copy itself */
export async function requireMovableSource({ store }: Installation, copy: string): Promise<void> {
  const closedReason = await store.closedReason()
  if (closedReason !== undefined && closedReason.copy !== copy)
    throw new OperationFailure(`--from: ${describeReadOnlyState(closedReason)}`)
}

/** Whether this copy has fenced its source. */
export async function isFenced({ store }: Installation, copy: string): Promise<boolean> {
  const [last] = await store.readStream(LOG_STREAM, { last: 1 })
  return readOnlyStateOf(last, [])?.copy === copy
}

/** Ciphertexts start with the id of the master key that encrypted them. */
const KEY_ID_BYTES = 8

/**
 * Checks that both installations can decrypt what the source's master keys encrypted: the link key, personal data, the vault and
 * the mail queue.
 * @throws OperationFailure
 */
export async function checkKeys(source: Installation, target: Installation): Promise<void> {
  await checkStoredKeys('source', source, source.keys)
  await checkStoredKeys('target', source, target.keys)
  for await (const item of source.vault.contents()) {
    if (item.kind === 'receipt') continue
    const id = item.sealed.subarray(0, KEY_ID_BYTES).toString('hex')
    for (const [name, { keys }] of [['source', source] as const, ['target', target] as const]) {
      if (![keys.current, keys.old].some((key) => key?.id === id))
        throw createWrongKeyError(name, `The vault is encrypted with the key ${id}`)
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

const createWrongKeyError = (name: string, detail: string) =>
  new OperationFailure(
    `The master key of the ${name} cannot decrypt the data of the source; nothing was copied. ${detail}`,
  )

/** What a move copies. */
export type MovePlan = {
  readonly events: number
  readonly files: number
  readonly secrets: number
  readonly mails: number
}

/** Counts the current contents; more may be written until the source is fenced. */
export async function planMove({ store, files, vault }: Installation): Promise<MovePlan> {
  const counts = { entry: 0, receipt: 0, mail: 0 }
  for await (const { kind } of vault.contents()) counts[kind]++
  return {
    events: await countItems(store.readAll('start')),
    files: await countItems(files.list()),
    secrets: counts.entry,
    mails: counts.mail,
  }
}
