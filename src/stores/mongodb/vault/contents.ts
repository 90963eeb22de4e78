import type { Filter } from 'mongodb'
import { WRITE } from '../connection.ts'
import { inserted } from '../inserted.ts'
import type { Vault, VaultItem } from '../../ports/vault.ts'
import type { VaultCall } from './collections.ts'
import { goneAfter, type Entry, type HeldReceipt, type Mail } from './collections.ts'
import { receiptOf, sealerOf } from './secrets.ts'

/** Items that are read together. */
const PAGE = 100

export const contentsIn = (call: VaultCall): Pick<Vault, 'contents' | 'restore'> => ({
  async *contents() {
    for await (const entry of paged<Entry>((filter, page) =>
      call(({ entries }) => entries.find(filter, page).toArray()),
    ))
      yield entryItem(entry)
    for await (const receipt of paged<HeldReceipt>((filter, page) =>
      call(({ receipts }) => receipts.find(filter, page).toArray()),
    ))
      yield receiptItem(receipt)
    for await (const mail of paged<Mail>((filter, page) => call(({ mails }) => mails.find(filter, page).toArray())))
      yield mailItem(mail)
  },
  async restore(items) {
    for (const item of items) await call((vault) => restoreOne(vault, item), WRITE)
  },
})

type Page = { readonly sort: { readonly _id: 1 }; readonly limit: number }

async function* paged<Held extends { readonly _id: string }>(
  read: (filter: Filter<Held>, page: Page) => Promise<Held[]>,
): AsyncIterable<Held> {
  let behind = ''
  for (;;) {
    const filter = { _id: { $gt: behind } } as Filter<Held>
    const page = await read(filter, { sort: { _id: 1 }, limit: PAGE })
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    behind = last._id
  }
}

const entryItem = ({ _id, sealed, createdAt, expiresAt, confirmed }: Entry): VaultItem => ({
  kind: 'entry',
  digest: _id,
  sealed,
  createdAt,
  expiresAt,
  confirmed,
})

const receiptItem = ({ _id, token, sealed, forgottenAt }: HeldReceipt): VaultItem => ({
  kind: 'receipt',
  digest: _id,
  token,
  sealed,
  forgottenAt,
})

const mailItem = ({ digest, kind, sealed, createdAt, dueAt, confirmed }: Mail): VaultItem => ({
  kind: 'mail',
  digest,
  mail: kind,
  sealed,
  createdAt,
  dueAt,
  confirmed,
})

async function restoreOne({ entries, receipts, mails }: Parameters<Parameters<VaultCall>[0]>[0], item: VaultItem) {
  const { digest, sealed } = item
  if (item.kind === 'entry') {
    const { createdAt, expiresAt, confirmed } = item
    const goneAt = goneAfter(expiresAt)
    await inserted(entries, {
      _id: digest,
      sealed,
      sealedBy: sealerOf(sealed),
      createdAt,
      expiresAt,
      confirmed,
      goneAt,
    })
  } else if (item.kind === 'receipt') {
    await inserted(receipts, receiptOf(digest, item))
  } else {
    const { mail: kind, createdAt, dueAt, confirmed } = item
    const sealedBy = sealerOf(sealed)
    await inserted(mails, { _id: `${digest}/${kind}`, digest, kind, sealed, sealedBy, createdAt, dueAt, confirmed })
  }
}
