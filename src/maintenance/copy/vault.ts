import type { Vault, VaultItem } from '../../stores/ports/vault.ts'
import { Failed } from '../operation.ts'

export type CopiedVault = { entries: number; receipts: number; mails: number }

/** Items that are put in together. */
const AT_ONCE = 100
/** A share that is refused by the fence leaves an entry in the vault, so that there may be some more each time. */
const ROUNDS = 5

/**
 * Copies what the vault holds, behind the fence only: what was ended before must not lie about in another place. Then
 * holds that all of it is there, byte for byte.
 * @throws Failed where something at the target differs
 */
export async function copyVault(source: Vault, target: Vault, progress: (items: number) => void): Promise<CopiedVault> {
  for (let round = 1; ; round++) {
    let done = 0
    for await (const items of inPages(source)) {
      await target.restore(items)
      progress((done += items.length))
    }
    const compared = await compare(source, target)
    if ('copied' in compared) return compared.copied
    if (round === ROUNDS) throw incomplete(compared.missing)
  }
}

const incomplete = (missing: string) =>
  new Failed(
    `The target's vault does not have ${missing} after ${ROUNDS} tries. Where the source's vault changes all the time, ` +
      'stop the service there; then run the same command again',
  )

async function* inPages(vault: Vault): AsyncGenerator<VaultItem[]> {
  let page: VaultItem[] = []
  for await (const item of vault.contents()) {
    page.push(item)
    if (page.length < AT_ONCE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** @returns the name of the first thing that the target does not have, where there is one */
async function compare(
  source: Vault,
  target: Vault,
): Promise<{ readonly copied: CopiedVault } | { readonly missing: string }> {
  const there = new Map<string, string>()
  for await (const item of target.contents()) there.set(nameOf(item), textOf(item))
  const copied = { entry: 0, receipt: 0, mail: 0 }
  for await (const item of source.contents()) {
    const found = there.get(nameOf(item))
    if (found === undefined) return { missing: nameOf(item) }
    if (found !== textOf(item)) {
      throw new Failed(
        `The target's vault has another ${nameOf(item)} than the source's. Empty the target, or name another one, and copy again`,
      )
    }
    copied[item.kind]++
  }
  return { copied: { entries: copied.entry, receipts: copied.receipt, mails: copied.mail } }
}

const nameOf = (item: VaultItem) => `${item.kind} ${item.digest}${item.kind === 'mail' ? `/${item.mail}` : ''}`

/** All of it but whether its stream has been looked for: a sweeper may have done so since. */
function textOf(item: VaultItem): string {
  const { confirmed: _, ...rest } = { confirmed: false, ...item, sealed: item.sealed.toString('base64') }
  return JSON.stringify(Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
