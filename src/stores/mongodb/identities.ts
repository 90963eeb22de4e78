import { randomUUID } from 'node:crypto'
import { WRITE, type Mongo } from './connection.ts'
import { inserted } from './confirmed.ts'

type Named = { readonly _id: string; readonly identity: string }

/** Of the vault or the files of a database, made once, by whichever process is first. @throws StoreUnavailable */
export function identityIn(mongo: Mongo, name: 'vault' | 'files'): Promise<string> {
  const identities = mongo.db.collection<Named>('identities')
  return mongo.call(async () => {
    const known = await identities.findOne({ _id: name })
    if (known !== null) return known.identity
    const identity = randomUUID()
    if (await inserted(identities, { _id: name, identity })) return identity
    return (await identities.findOne({ _id: name }))?.identity ?? identity
  }, WRITE)
}
