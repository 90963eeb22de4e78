import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { secrets } from '../../../src/projections/secrets/secrets.ts'

const DIGEST = 'a'.repeat(64)

/** What version 4 of the read model stores. */
const storedState = ({ tries, revision }: { tries: readonly number[]; revision: number }) =>
  JSON.stringify({
    secret: {
      owner: 1,
      token: 'abc',
      kind: 'shared',
      at: 1_000,
      ttl: 3_600,
      passphrase: true,
      recipient: [],
      notify: false,
      status: 'new',
      tries,
      attempts: tries.length,
      opened: false,
      lockedUntil: 0,
      mails: [],
      changedAt: 1_000,
    },
    owner: 1,
    revision,
    digest: DIGEST,
  })

const test = suite('stored documents of secrets')

test('keep their form within a version, and continue with the next event', () => {
  const document = { id: DIGEST, owner: 1, created: 1_000, state: storedState({ tries: [5_000], revision: 1 }) }
  const event = {
    id: '00000000-0000-4000-8000-000000000000',
    stream: `secret-${DIGEST}`,
    revision: 2n,
    position: { commit: 9n, prepare: 9n },
    type: 'PassphraseTried',
    data: { at: 6_000, for: 'reveal' },
    metadata: {},
  }
  const next = secrets.evolve(secrets.fromDocument(document), event, 0)
  assert.ok(next)
  assert.equal(secrets.toDocument(next), {
    ...document,
    state: storedState({ tries: [5_000, 6_000], revision: 2 }),
  })
})

test.run()
