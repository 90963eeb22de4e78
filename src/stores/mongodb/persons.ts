import type { Collection } from 'mongodb'
import type { Persons } from '../ports/persons.ts'
import { WRITE, type Mongo } from './connection.ts'
import { isDuplicate } from './failure.ts'
import { indexedCalls } from './indexed-calls.ts'

/** `_id`: the account's id. Of one that was forgotten nothing else is there: `sealed` is null. */
type Person = {
  readonly _id: number
  readonly sealed: Buffer | null
  readonly at: number
  readonly confirmed: boolean
}

/** Rows that are read together. */
const PAGE = 100

/** The rows of persons in a collection of their own. The server's files and its oplog may hold a deleted one for a while. */
export function personsIn(mongo: Mongo): Persons {
  const collections = { persons: mongo.db.collection<Person>('persons') }
  const call = indexedCalls(mongo, collections, [() => collections.persons.createIndex({ confirmed: 1, at: 1 })])
  return {
    put: ({ account, sealed, at }) =>
      call(({ persons }) => set(persons, account, { sealed, at, confirmed: false }), WRITE),
    putBack: ({ account, sealed, at }) =>
      call(async ({ persons }) => {
        await persons.insertOne({ _id: account, sealed, at, confirmed: false }).catch((error: unknown) => {
          if (!isDuplicate(error)) throw error
        })
      }, WRITE),
    read: async (account) => (await call(({ persons }) => persons.findOne({ _id: account })))?.sealed ?? undefined,
    async forget(accounts) {
      for (const account of accounts) {
        await call(({ persons }) => set(persons, account, { sealed: null, at: 0, confirmed: true }), WRITE)
      }
    },
    async unconfirmed(before, limit) {
      const filter = { confirmed: false, at: { $lt: before } }
      const found = await call(({ persons }) => persons.find(filter, { projection: { _id: 1 }, limit }).toArray())
      return found.map(({ _id }) => Number(_id))
    },
    confirm: (accounts) =>
      call(
        async ({ persons }) =>
          void (await persons.updateMany({ _id: { $in: [...accounts] } }, { $set: { confirmed: true } })),
        WRITE,
      ),
    async *all() {
      for (let behind = 0; ;) {
        const filter = { _id: { $gt: behind } }
        const page = await call(({ persons }) => persons.find(filter, { sort: { _id: 1 }, limit: PAGE }).toArray())
        for (const { _id, sealed, at } of page) {
          if (sealed !== null) yield { account: Number(_id), sealed, at: Number(at) }
        }
        const last = page.at(-1)
        if (last === undefined || page.length < PAGE) return
        behind = Number(last._id)
      }
    },
  }
}

/** Two that make one row at once: the second finds it. */
async function set(persons: Collection<Person>, account: number, values: Omit<Person, '_id'>): Promise<void> {
  const put = () => persons.updateOne({ _id: account }, { $set: values }, { upsert: true })
  await put().catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return put()
  })
}
