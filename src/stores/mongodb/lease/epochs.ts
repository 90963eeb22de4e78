import type { Mongo } from '../connection.ts'

/** `_id`: model/epoch. Taking a lease inserts the next epoch, which is atomic on every server. */
export type Epoch = {
  readonly _id: string
  readonly model: string
  readonly epoch: number
  readonly holder: string
  readonly beat: number
  readonly released: boolean
  /** Written by those who wait, to know that the server takes writes; the holder's next sign leaves it out. */
  readonly doubted?: string
}

export const epochsIn = ({ db }: Mongo) => db.collection<Epoch>('leases')

/** The epoch that counts: the latest of a model. */
export const lastIn = (mongo: Mongo, model: string): Promise<Epoch | undefined> =>
  mongo.call(async () => (await epochsIn(mongo).findOne({ model }, { sort: { epoch: -1 } })) ?? undefined)

/** The latest epoch of a model among these. */
export const lastOf = (epochs: readonly Epoch[], model: string): Epoch | undefined =>
  epochs.filter((epoch) => epoch.model === model).toSorted((one, other) => other.epoch - one.epoch)[0]
