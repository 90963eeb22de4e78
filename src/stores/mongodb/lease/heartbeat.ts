import type { Kind, Mongo } from '../connection.ts'
import { epochsIn, lastOf, type Epoch } from './epochs.ts'
import type { HeldLease } from './held.ts'

/** Milliseconds between two heartbeats of a holder. */
export const BEAT = 500

/**
 * A heartbeat that gets no answer in this time is sent again: after an outage, those who wait must see one before they
 * take the silence for an end (lease.ts).
 */
const CALL: Kind = { deadline: 1_200, takesPlace: false }

/** The heartbeat of all leases that a process holds: one write and one read, however many leases there are. */
export class Heartbeat {
  readonly #mongo: Mongo
  readonly #held = new Set<HeldLease>()
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()

  constructor(mongo: Mongo) {
    this.#mongo = mongo
  }

  add(lease: HeldLease): void {
    this.#held.add(lease)
    this.#timer ??= this.#later()
  }

  async release(lease: HeldLease): Promise<void> {
    this.#held.delete(lease)
    await this.#beating
    // If this is lost, the others wait as long as if this process had been killed.
    await this.#write([{ ...lease.epoch, released: true }]).catch(() => undefined)
  }

  /** Stops the heartbeat; leases that are still held fall to others. */
  end(): void {
    this.#held.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => (this.#beating = this.#beat()), BEAT).unref()
  }

  /** A store that is away takes a lease from nobody: no other process can take it either. */
  async #beat(): Promise<void> {
    const leases = [...this.#held]
    // A heartbeat that fails is followed by the next; the work that holds the lease reports that the store is away.
    const current = await this.#renew(leases).catch(() => undefined)
    if (current !== undefined) for (const lease of leases) if (!current.has(lease.epoch._id)) this.#lose(lease)
    if (this.#held.size > 0) this.#timer = this.#later()
    else this.#timer = undefined
  }

  #lose(lease: HeldLease): void {
    if (this.#held.delete(lease)) lease.lose()
  }

  /** @returns the ids of the latest epochs of the models whose leases these are */
  async #renew(leases: readonly HeldLease[]): Promise<ReadonlySet<string>> {
    if (leases.length === 0) return new Set()
    await this.#write(leases.map((lease) => lease.nextBeat()))
    const models = leases.map(({ epoch }) => epoch.model)
    const found = await this.#mongo.call(
      () =>
        epochsIn(this.#mongo)
          .find({ model: { $in: models } })
          .toArray(),
      CALL,
    )
    return new Set(models.flatMap((model) => lastOf(found, model)?._id ?? []))
  }

  async #write(epochs: readonly Epoch[]): Promise<void> {
    const operations = epochs.map(({ _id, ...rest }) => ({ replaceOne: { filter: { _id }, replacement: rest } }))
    await this.#mongo.call(() => epochsIn(this.#mongo).bulkWrite(operations, { ordered: false }), CALL)
  }
}
