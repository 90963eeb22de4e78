import { openReceipt } from '../../credentials/sealing.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import { attributes, type Attributes } from '../../domain/secret/render.ts'
import { forgottenAt, secretDecider, type KnownSecret, type SecretEvent } from '../../domain/secret/secret.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Receipt, ReceiptName, Vault } from '../../stores/ports/vault.ts'
import type { OpenReadModel } from '../engine/followers.ts'
import type { Patience } from '../engine/progress.ts'
import { readModel } from '../engine/read-model.ts'

/** A secret, and the revision that its stream had. */
export type SecretView = {
  readonly secret: KnownSecret
  readonly owner: number
  readonly revision: number
  readonly digest: string
}

/**
 * What an account has shared, to be listed by age. `id` is the digest; `created` milliseconds since 1970. Secrets without
 * an owner are in no list, and so in no document.
 */
export const secrets = readModel<SecretView>({
  name: 'secrets',
  version: 3,
  follows: SECRET_STREAMS.prefixes,
  documents: {
    fields: { id: 'text', owner: 'integer', created: 'integer' },
    texts: ['state'],
    indexes: [['owner', 'created', 'id']],
    counts: [],
  },
  // Most secrets are read soon after they were shared; their list is asked for now and then.
  lag: 50,
  keyOf: ({ stream }) => digestOfStream(stream),
  begins: ({ revision }) => revision === 0n,
  evolve,
  toDocument: (view) => ({
    id: view.digest,
    owner: view.owner,
    created: view.secret.at,
    state: JSON.stringify(view),
  }),
  fromDocument: (document) => JSON.parse(String(document['state'])) as SecretView,
})

function evolve(view: SecretView | undefined, event: StoredEvent): SecretView | undefined {
  const revision = Number(event.revision)
  if (view === undefined ? revision > 0 : revision <= view.revision) return view
  const secret = secretDecider.evolve(view?.secret ?? secretDecider.initialState, decode<SecretEvent>(event))
  if (secret.status === 'unknown' || secret.owner === null) return undefined
  return { secret, owner: secret.owner, revision, digest: digestOfStream(event.stream) }
}

/** Milliseconds of what is recent. */
const RECENT = 30 * 86_400_000
const PAGE = 1_000

/** `token` opens the receipts of what was shared with it; those of other tokens stay shut. */
export type RecentOf = { readonly account: number; readonly email: string; readonly token: string }

/** The secrets that an account has shared lately, newest first. */
export class RecentSecrets {
  constructor(
    private readonly shared: Pick<OpenReadModel, 'model' | 'isCurrent'>,
    private readonly vault: Pick<Vault, 'receipts'>,
    private readonly clock: () => number,
  ) {}

  /** `current` is false when the projection is behind: what was shared last may be missing. */
  async of(sender: RecentOf, patience: Patience): Promise<{ secrets: Attributes[]; current: boolean }> {
    const current = await this.shared.isCurrent(patience)
    const shown: Attributes[] = []
    for (let offset = 0; ; offset += PAGE) {
      const views = await this.#page(sender.account, offset)
      const receipts = await this.vault.receipts(views.map(nameOf))
      shown.push(...views.flatMap((view) => this.#shown(view, sender, receipts.get(view.digest))))
      if (views.length < PAGE) return { secrets: shown, current }
    }
  }

  async #page(owner: number, offset: number): Promise<SecretView[]> {
    const documents = await this.shared.model.find({
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
