import { checkPersonKey } from '../../commands/accounts/people.ts'
import { checkLinkKey } from '../../commands/installation/link-key.ts'
import { WrongMasterKey } from '../../commands/installation/sealed-key.ts'
import type { MasterKeys } from '../../credentials/master-keys.ts'
import type { Installation } from '../../wiring/installation.ts'
import { Failed } from '../operation.ts'

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
