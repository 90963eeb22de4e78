import { openReceipt } from '../../credentials/sealing.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { forgottenAt } from '../../domain/secret/secret.ts'
import type { EventStore } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import type { Receipt, ReceiptName, Vault } from '../../stores/ports/vault.ts'
import type { Patience } from '../engine/patience.ts'
import type { Progress } from '../engine/progress.ts'
import { secrets, type SecretView } from './secrets.ts'

/** Milliseconds of what is recent. */
const RECENT = 30 * 86_400_000
const PAGE = 1_000

/** `token` opens the receipts of what was shared with it; those of other tokens stay shut. */
export type RecentOf = { readonly account: number; readonly email: string; readonly token: string }

/** The secrets that an account has shared lately, newest first. */
export class RecentSecrets {
  constructor(
    private readonly model: ReadModel,
    private readonly vault: Pick<Vault, 'receipts'>,
    private readonly store: Pick<EventStore, 'head'>,
    private readonly progress: Progress,
    private readonly clock: () => number,
  ) {}

  /** `current` is false when the projection is behind: what was shared last may be missing. */
  async of(sender: RecentOf, patience: Patience): Promise<{ secrets: Attributes[]; current: boolean }> {
    const head = await this.store.head()
    const current = await patience.during((ms) => this.progress.reached(head, ms))
    const shown: Attributes[] = []
    for (let offset = 0; ; offset += PAGE) {
      const views = await this.#page(sender.account, offset)
      const receipts = await this.vault.receipts(views.map(nameOf))
      shown.push(...views.flatMap((view) => this.#shown(view, sender, receipts.get(view.digest))))
      if (views.length < PAGE) return { secrets: shown, current }
    }
  }

  async #page(owner: number, offset: number): Promise<SecretView[]> {
    const documents = await this.model.find({
      where: { owner, created: { from: this.clock() - RECENT } },
      order: [
        ['created', 'desc'],
        ['id', 'desc'],
      ],
      limit: PAGE,
      offset,
      select: ['state'],
    })
    return documents.map(secrets.fromDocument)
  }

  #shown({ secret, digest }: SecretView, { email, token }: RecentOf, receipt: Receipt | undefined): Attributes[] {
    const now = this.clock()
    if (now >= forgottenAt(secret)) return []
    const metadataKey = receipt === undefined ? null : (openReceipt(token, receipt.sealed, digest) ?? null)
    return [attributes(secret, email, { metadataKey, secretKey: null }, now)]
  }
}

const nameOf = ({ secret, digest }: SecretView): ReceiptName => ({ digest, forgottenAt: forgottenAt(secret) })
