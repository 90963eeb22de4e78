import { randomUUID } from 'node:crypto'
import { FailureDetector } from '../../runtime/failure-detector.ts'
import {
  LEASE_HEARTBEAT_INTERVAL_MS,
  LEASE_TIMINGS,
  versionedName,
  type Lease,
  type ModelDeclaration,
} from '../ports/read-store.ts'
import { insertIfAbsent } from './linearizable-reads.ts'
import type { MongoCallKind, MongoDatabase } from './connection.ts'
import { readFencingToken } from './documents/pointers.ts'

/** `_id`: model/epoch. Acquiring a lease inserts the next epoch, which is atomic on every server. */
type LeaseDocument = {
  readonly _id: string
  readonly model: string
  readonly epoch: number
  readonly holder: string
  readonly beat: number
  readonly released: boolean
  /** Written by waiting processes to verify that the server accepts writes. The holder's next heartbeat removes it. */
  readonly doubted?: string
}

export class Leases {
  readonly #mongo: MongoDatabase
  readonly #holder = randomUUID()
  readonly #failureDetector: FailureDetector
  readonly #heartbeat: Heartbeat
  readonly #tokens = new Map<string, number>()

  /** @param now milliseconds of a monotonic clock */
  constructor(mongo: MongoDatabase, now: () => number) {
    this.#mongo = mongo
    this.#failureDetector = new FailureDetector(LEASE_TIMINGS, now)
    this.#heartbeat = new Heartbeat(mongo)
  }

  /**
   * Undefined while another process holds the lease, and until 4 s after a holder ended without releasing it, counted
   * only over repeated calls and while the server accepts writes. An election therefore does not end a lease.
   */
  async acquire(declaration: ModelDeclaration): Promise<Lease | undefined> {
    try {
      return await this.#acquire(versionedName(declaration))
    } catch (error) {
      this.#failureDetector.reset()
      throw error
    }
  }

  async #acquire(model: string): Promise<Lease | undefined> {
    const last = await findLatestLease(this.#mongo, model)
    if (last !== undefined && !last.released && !(await this.#hasEnded(last))) return undefined
    // If the leases were dropped by hand, continue after the token that the pointer knows; a lower token could not
    // promote builds.
    const next = this.#epochAfter(model, last?.epoch ?? (await readFencingToken(this.#mongo, model)))
    if (!(await this.#mongo.call(() => insertIfAbsent(this.#epochs, next)))) return undefined
    await this.#mongo.call(() => this.#epochs.deleteMany({ model, epoch: { $lt: next.epoch } }))
    const lease = new HeldLease(next, () => this.#heartbeat.release(lease))
    this.#heartbeat.add(lease)
    this.#tokens.set(model, next.epoch)
    return lease
  }

  /**
   * The fencing token of the lease that this process acquired last, whether or not it still holds it: the model's
   * epoch, which increases with each lease. 0 if it acquired none.
   */
  fencingTokenOf(declaration: ModelDeclaration): number {
    return this.#tokens.get(versionedName(declaration)) ?? 0
  }

  /** Whether any process holds the lease now. Watches a few heartbeats to find out. */
  async isHeld(declaration: ModelDeclaration): Promise<boolean> {
    const model = versionedName(declaration)
    const last = await findLatestLease(this.#mongo, model)
    if (last === undefined || last.released) return false
    for (let beats = 0; beats < 4; beats++) {
      await new Promise((done) => setTimeout(done, LEASE_HEARTBEAT_INTERVAL_MS))
      const latest = await findLatestLease(this.#mongo, model)
      if (latest !== undefined && (latest.epoch !== last.epoch || latest.beat !== last.beat)) return !latest.released
    }
    return false
  }

  /** Stops the heartbeat. Leases that are still held expire after 4 s. */
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
    const holderState = this.#failureDetector.observe(model, `${epoch}/${beat}`)
    if (holderState === 'doubted') {
      await this.#mongo.call(() => this.#epochs.updateOne({ _id }, { $set: { doubted: randomUUID() } }))
      this.#failureDetector.confirmStoreWritable(model)
    }
    return holderState === 'ended'
  }
}

/** The heartbeat of all leases that a process holds: one write and one read, however many leases. */
class Heartbeat {
  readonly #mongo: MongoDatabase
  readonly #leases = new Set<HeldLease>()
  #timer: NodeJS.Timeout | undefined
  #currentBeat: Promise<void> = Promise.resolve()

  constructor(mongo: MongoDatabase) {
    this.#mongo = mongo
  }

  add(lease: HeldLease): void {
    this.#leases.add(lease)
    this.#timer ??= this.#scheduleBeat()
  }

  async release(lease: HeldLease): Promise<void> {
    this.#leases.delete(lease)
    await this.#currentBeat
    // If this write is lost, other processes wait as they would after a crash of this one.
    await this.#write([{ ...lease.epoch, released: true }]).catch(() => undefined)
  }

  /** Stops the heartbeat. Leases that are still held expire. */
  stop(): void {
    this.#leases.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #scheduleBeat(): NodeJS.Timeout {
    return setTimeout(() => (this.#currentBeat = this.#beat()), LEASE_HEARTBEAT_INTERVAL_MS).unref()
  }

  /** While the store is unavailable no lease is lost, because no other process can acquire it either. */
  async #beat(): Promise<void> {
    const leases = [...this.#leases]
    // The next heartbeat retries; the work under the lease reports that the store is unavailable.
    const latestIds = await this.#renew(leases).catch(() => undefined)
    if (latestIds !== undefined) for (const lease of leases) if (!latestIds.has(lease.epoch._id)) this.#lose(lease)
    if (this.#leases.size > 0) this.#timer = this.#scheduleBeat()
    else this.#timer = undefined
  }

  #lose(lease: HeldLease): void {
    if (this.#leases.delete(lease)) lease.markLost()
  }

  /** @returns the `_id`s of the latest epochs of these leases' models */
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

/** A lease that is held until it is released or another process acquires the next epoch. */
class HeldLease implements Lease {
  readonly lost: Promise<void>
  #epoch: LeaseDocument
  #markLost: () => void = () => undefined

  /** @param endHeartbeat stops the heartbeat and records the release */
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

  /** The next heartbeat. It differs from all earlier ones, because one whose outcome is unknown may have been stored. */
  nextBeat(): LeaseDocument {
    this.#epoch = { ...this.#epoch, beat: this.#epoch.beat + 1 }
    return this.#epoch
  }

  markLost(): void {
    this.#markLost()
  }

  /** If the store is unavailable, others acquire the lease after the heartbeat has been silent for long enough. */
  release(): Promise<void> {
    return this.endHeartbeat()
  }
}

const leaseCollection = ({ db }: MongoDatabase) => db.collection<LeaseDocument>('leases')

/**
 * A heartbeat without a response within this time is sent again: after an outage, waiting processes must see a
 * heartbeat before they take the silence for the holder's end (LEASE_TIMINGS).
 */
const HEARTBEAT_CALL: MongoCallKind = { deadlineMs: 1_200, isRequestWrite: false }

const latestOf = (epochs: readonly LeaseDocument[], model: string): LeaseDocument | undefined =>
  epochs.filter((epoch) => epoch.model === model).toSorted((one, other) => other.epoch - one.epoch)[0]

/** The current lease: a model's latest epoch. */
const findLatestLease = (mongo: MongoDatabase, model: string): Promise<LeaseDocument | undefined> =>
  mongo.call(async () => (await leaseCollection(mongo).findOne({ model }, { sort: { epoch: -1 } })) ?? undefined)
