import { randomUUID } from 'node:crypto'
import { FailureDetector, type FailureDetectorTimings } from '../../runtime/failure-detector.ts'
import type { Lease, ModelDeclaration } from '../ports/read-store.ts'
import { insertIfAbsent } from './linearizable-reads.ts'
import type { MongoCallKind, MongoDatabase } from './connection.ts'
import { readFencingToken } from './documents/pointers.ts'

/** `_id`: model/epoch. Taking a lease inserts the next epoch, which is atomic on every server. */
export type LeaseDocument = {
  readonly _id: string
  readonly model: string
  readonly epoch: number
  readonly holder: string
  readonly beat: number
  readonly released: boolean
  /** Written by those who wait, to know that the server takes writes; the holder's next sign leaves it out. */
  readonly doubted?: string
}

const leaseCollection = ({ db }: MongoDatabase) => db.collection<LeaseDocument>('leases')

/** The epoch that counts: the latest of a model. */
const findLatestLease = (mongo: MongoDatabase, model: string): Promise<LeaseDocument | undefined> =>
  mongo.call(async () => (await leaseCollection(mongo).findOne({ model }, { sort: { epoch: -1 } })) ?? undefined)

/** The latest epoch of a model among these. */
const latestOf = (epochs: readonly LeaseDocument[], model: string): LeaseDocument | undefined =>
  epochs.filter((epoch) => epoch.model === model).toSorted((one, other) => other.epoch - one.epoch)[0]

/** A lease that is held, until it is released or another process has taken the next epoch. */
class HeldLease implements Lease {
  readonly lost: Promise<void>
  #epoch: LeaseDocument
  #markLost: () => void = () => undefined

  /** @param endHeartbeat ends its heartbeat, and writes that it was released */
  constructor(
    epoch: LeaseDocument,
    private readonly endHeartbeat: () => Promise<void>,
  ) {
    this.#epoch = epoch
    this.lost = new Promise((done) => (this.#markLost = done))
  }

  get epoch(): LeaseDocument {
    return this.#epoch
  }

  /** The next heartbeat, which differs from all before: one whose outcome is unknown may be in the database. */
  nextBeat(): LeaseDocument {
    this.#epoch = { ...this.#epoch, beat: this.#epoch.beat + 1 }
    return this.#epoch
  }

  markLost(): void {
    this.#markLost()
  }

  /** If the store is away, others get it when the heartbeat has been silent for long enough. */
  release(): Promise<void> {
    return this.endHeartbeat()
  }
}

/** Milliseconds between two heartbeats of a holder. */
const HEARTBEAT_INTERVAL_MS = 500

/**
 * A heartbeat that gets no answer in this time is sent again: after an outage, those who wait must see one before they
 * take the silence for an end (lease.ts).
 */
const HEARTBEAT_CALL: MongoCallKind = { deadlineMs: 1_200, isRequestWrite: false }

/** The heartbeat of all leases that a process holds: one write and one read, however many leases there are. */
class Heartbeat {
  readonly #mongo: MongoDatabase
  readonly #held = new Set<HeldLease>()
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()

  constructor(mongo: MongoDatabase) {
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
  stop(): void {
    this.#held.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #later(): NodeJS.Timeout {
    return setTimeout(() => (this.#beating = this.#beat()), HEARTBEAT_INTERVAL_MS).unref()
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
    if (this.#held.delete(lease)) lease.markLost()
  }

  /** @returns the ids of the latest epochs of the models whose leases these are */
  async #renew(leases: readonly HeldLease[]): Promise<ReadonlySet<string>> {
    if (leases.length === 0) return new Set()
    await this.#write(leases.map((lease) => lease.nextBeat()))
    const models = leases.map(({ epoch }) => epoch.model)
    const found = await this.#mongo.call(
      () =>
        leaseCollection(this.#mongo)
          .find({ model: { $in: models } })
          .toArray(),
      HEARTBEAT_CALL,
    )
    return new Set(models.flatMap((model) => latestOf(found, model)?._id ?? []))
  }

  async #write(epochs: readonly LeaseDocument[]): Promise<void> {
    const operations = epochs.map(({ _id, ...rest }) => ({ replaceOne: { filter: { _id }, replacement: rest } }))
    await this.#mongo.call(() => leaseCollection(this.#mongo).bulkWrite(operations, { ordered: false }), HEARTBEAT_CALL)
  }
}

/** Of a holder that gives a sign each 500 ms, watched as often by those who wait for what it holds. */
const LIFETIMES: FailureDetectorTimings = { suspectedAfterMs: 1_500, deadAfterMs: 4_000, maxObservationGapMs: 1_000 }

/** The leases of one process in one database. */
export class Leases {
  readonly #mongo: MongoDatabase
  readonly #holder = randomUUID()
  readonly #signs: FailureDetector
  readonly #heartbeat: Heartbeat
  readonly #tokens = new Map<string, number>()

  /** @param now milliseconds that never go back */
  constructor(mongo: MongoDatabase, now: () => number) {
    this.#mongo = mongo
    this.#signs = new FailureDetector(LIFETIMES, now)
    this.#heartbeat = new Heartbeat(mongo)
  }

  /**
   * Undefined while another process holds it, and for 4 s after that one has ended without saying so: 4 s of being asked
   * again and again, with a server that takes writes. An election takes it from nobody.
   */
  async acquire(declaration: ModelDeclaration): Promise<Lease | undefined> {
    try {
      return await this.#acquire(nameOf(declaration))
    } catch (error) {
      this.#signs.reset()
      throw error
    }
  }

  async #acquire(model: string): Promise<Lease | undefined> {
    const last = await findLatestLease(this.#mongo, model)
    if (last !== undefined && !last.released && !(await this.#hasEnded(last))) return undefined
    // Where somebody has dropped the leases, tokens go on behind what the pointer was shown, or no switch would be taken.
    const next = this.#epochAfter(model, last?.epoch ?? (await readFencingToken(this.#mongo, model)))
    if (!(await this.#mongo.call(() => insertIfAbsent(this.#epochs, next)))) return undefined
    await this.#mongo.call(() => this.#epochs.deleteMany({ model, epoch: { $lt: next.epoch } }))
    const lease = new HeldLease(next, () => this.#heartbeat.release(lease))
    this.#heartbeat.add(lease)
    this.#tokens.set(model, next.epoch)
    return lease
  }

  /**
   * The fencing token of the lease that this process took last, whether or not it still has it: the model's epoch, which is
   * higher for each lease. 0 where it took none.
   */
  fencingTokenOf(declaration: ModelDeclaration): number {
    return this.#tokens.get(nameOf(declaration)) ?? 0
  }

  /** Whether a process holds it at this moment, which takes a few signs of its life to know. */
  async isHeld(declaration: ModelDeclaration): Promise<boolean> {
    const model = nameOf(declaration)
    const last = await findLatestLease(this.#mongo, model)
    if (last === undefined || last.released) return false
    for (let beats = 0; beats < 4; beats++) {
      await new Promise((done) => setTimeout(done, HEARTBEAT_INTERVAL_MS))
      const now = await findLatestLease(this.#mongo, model)
      if (now !== undefined && (now.epoch !== last.epoch || now.beat !== last.beat)) return !now.released
    }
    return false
  }

  /** Ends the signs of life; what is still held falls to others in 4 s. */
  close(): void {
    this.#heartbeat.stop()
  }

  get #epochs() {
    return leaseCollection(this.#mongo)
  }

  #epochAfter(model: string, last: number): LeaseDocument {
    const epoch = last + 1
    return { _id: `${model}/${epoch}`, model, epoch, holder: this.#holder, beat: 0, released: false }
  }

  async #hasEnded({ _id, model, epoch, beat }: LeaseDocument): Promise<boolean> {
    const life = this.#signs.observe(model, `${epoch}/${beat}`)
    if (life === 'doubted') {
      await this.#mongo.call(() => this.#epochs.updateOne({ _id }, { $set: { doubted: randomUUID() } }))
      this.#signs.confirmStoreWritable(model)
    }
    return life === 'ended'
  }
}

const nameOf = ({ name, version }: ModelDeclaration) => `${name}-v${version}`
