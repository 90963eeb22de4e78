import type { Vault } from '../../stores/ports/vault.ts'

const AT_ONCE = 100

/**
 * Deletes what waited: the log says of all of it that it has expired, or does not know of it. Receipts stay, with which
 * senders find what became of their secrets.
 */
export async function emptyVault(vault: Vault): Promise<void> {
  const digests = new Set<string>()
  for await (const item of vault.contents()) if (item.kind !== 'receipt') digests.add(item.digest)
  const ended = [...digests].map((digest) => ({ digest }))
  for (let from = 0; from < ended.length; from += AT_ONCE) await vault.end(ended.slice(from, from + AT_ONCE))
}
