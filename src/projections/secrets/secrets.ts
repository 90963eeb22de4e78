import { secretDecider, type KnownSecret, type SecretEvent } from '../../domain/secret/secret.ts'
import { digestOfStream, SECRET_STREAMS } from '../../credentials/secret-keys.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { decode } from '../../events/decode.ts'
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
  apply,
  toDocument: (view) => ({
    id: view.digest,
    owner: view.owner,
    created: view.secret.at,
    state: JSON.stringify(view),
  }),
  fromDocument: (document) => JSON.parse(String(document['state'])) as SecretView,
})

function apply(view: SecretView | undefined, event: StoredEvent): SecretView | undefined {
  const revision = Number(event.revision)
  if (view === undefined ? revision > 0 : revision <= view.revision) return view
  const secret = secretDecider.evolve(view?.secret ?? secretDecider.initialState, decode<SecretEvent>(event))
  if (secret.status === 'unknown' || secret.owner === null) return undefined
  return { secret, owner: secret.owner, revision, digest: digestOfStream(event.stream) }
}
