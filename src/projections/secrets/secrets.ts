import { openReceipt } from '../../credentials/sealing.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import { toSecretAttributes, type SecretAttributes } from '../../domain/secret/secret-attributes.ts'
import { metadataExpiresAt, secretFold, type KnownSecret, type SecretEvent } from '../../domain/secret/secret.ts'
import { decode } from '../../events/decode.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import type { Receipt, ReceiptKey, Vault } from '../../stores/ports/vault.ts'
import type { OpenReadModel } from '../engine/background-services.ts'
import type { WaitBudget } from '../engine/progress.ts'
import { defineReadModel } from '../engine/read-model.ts'

type SecretView = {
  readonly secret: KnownSecret
  readonly owner: number
  readonly revision: number
  readonly digest: string
}

/**
 * The secrets that an account has shared, by age. `id` is the digest; `created` milliseconds since 1970. Secrets
 * without an owner have no document.
 */
export const secrets = defineReadModel<SecretView>({
  name: 'secrets',
  version: 4,
  streamPrefixes: SECRET_STREAMS.prefixes,
  documents: {
    fields: { id: 'text', owner: 'integer', created: 'integer' },
    texts: ['state'],
    indexes: [['owner', 'created', 'id']],
    counts: [],
  },
  // Most secrets are revealed soon after they are shared; the list is rarely requested.
  maxLagMs: 50,
  keyOf: ({ stream }) => digestOfStream(stream),
  createsDocument: ({ revision }) => revision === 0n,
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
  const secret = secretFold.evolve(view?.secret ?? secretFold.initialState, decode<SecretEvent>(event))
  if (secret.status === 'unknown' || secret.owner === null) return undefined
  return { secret, owner: secret.owner, revision, digest: digestOfStream(event.stream) }
}

const RECENT_WINDOW_MS = 30 * 86_400_000
const PAGE_SIZE = 1_000

/** `token` opens the receipts of secrets shared with it; receipts of other tokens stay sealed. */
type SecretsSender = { readonly account: number; readonly email: string; readonly token: string }

/** The recently shared secrets of an account, newest first. */
export class RecentSecrets {
  constructor(
    private readonly readModel: Pick<OpenReadModel, 'model' | 'isCurrent'>,
    private readonly vault: Pick<Vault, 'receipts'>,
    private readonly clock: () => number,
  ) {}

  /** `current` is false if the projection is behind: the latest secrets may be missing. */
  async list(sender: SecretsSender, budget: WaitBudget): Promise<{ secrets: SecretAttributes[]; current: boolean }> {
    const current = await this.readModel.isCurrent(budget)
    const attributes: SecretAttributes[] = []
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const views = await this.#page(sender.account, offset)
      const receipts = await this.vault.receipts(views.map(receiptKeyOf))
      attributes.push(...views.flatMap((view) => this.#toAttributes(view, sender, receipts.get(view.digest))))
      if (views.length < PAGE_SIZE) return { secrets: attributes, current }
    }
  }

  async #page(owner: number, offset: number): Promise<SecretView[]> {
    const documents = await this.readModel.model.find({
      where: { owner, created: { from: this.clock() - RECENT_WINDOW_MS } },
      order: [
        ['created', 'desc'],
        ['id', 'desc'],
      ],
      limit: PAGE_SIZE,
      offset,
      select: ['state'],
    })
    return documents.map(secrets.fromDocument)
  }

  #toAttributes(
    { secret, digest }: SecretView,
    { email, token }: SecretsSender,
    receipt: Receipt | undefined,
  ): SecretAttributes[] {
    const now = this.clock()
    if (now >= metadataExpiresAt(secret)) return []
    const metadataKey = receipt === undefined ? null : (openReceipt(token, receipt.sealed, digest) ?? null)
    return [toSecretAttributes(secret, email, { metadataKey, secretKey: null }, now)]
  }
}

const receiptKeyOf = ({ secret, digest }: SecretView): ReceiptKey => ({
  digest,
  forgottenAt: metadataExpiresAt(secret),
})
