import { randomUUID } from 'node:crypto'
import type { Lease, ModelDeclaration } from '../ports/read-store.ts'
import { SignsOfLife, type Lifetimes } from '../../runtime/signs-of-life.ts'
import type { Mongo } from './connection.ts'
import { inserted } from './inserted.ts'
import { epochsIn, lastIn, type Epoch } from './lease/epochs.ts'
import { HeldLease } from './lease/held.ts'
import { BEAT, Heartbeat } from './lease/heartbeat.ts'

/** Of a holder that gives a sign each 500 ms, watched as often by those who wait for what it holds. */
const TIMES: Lifetimes = { doubted: 1_500, ended: 4_000, look: 1_000 }

/** The leases of one process in one database. */
export class Leases {
  readonly #mongo: Mongo
  readonly #holder = randomUUID()
  readonly #signs: SignsOfLife
  readonly #heartbeat: Heartbeat

  /** @param now milliseconds that never go back */
  constructor(mongo: Mongo, now: () => number) {
    this.#mongo = mongo
    this.#signs = new SignsOfLife(TIMES, now)
    this.#heartbeat = new Heartbeat(mongo)
  }

  /**
   * Undefined while another process holds it, and for 4 s after that one has ended without saying so: 4 s of being asked
   * again and again, with a server that takes writes. An election takes it from nobody.
   */
  async take(declaration: ModelDeclaration): Promise<Lease | undefined> {
    try {
      return await this.#take(nameOf(declaration))
    } catch (error) {
      this.#signs.beginAnew()
      throw error
    }
  }

  async #take(model: string): Promise<Lease | undefined> {
    const last = await lastIn(this.#mongo, model)
    if (last !== undefined && !last.released && !(await this.#hasEnded(last))) return undefined
    const next = this.#epochAfter(model, last)
    if (!(await this.#mongo.call(() => inserted(this.#epochs, next)))) return undefined
    await this.#mongo.call(() => this.#epochs.deleteMany({ model, epoch: { $lt: next.epoch } }))
    const lease = new HeldLease(next, () => this.#heartbeat.release(lease))
    this.#heartbeat.add(lease)
    return lease
  }

  /** Whether a process holds it at this moment, which takes a few signs of its life to know. */
  async isHeld(declaration: ModelDeclaration): Promise<boolean> {
    const model = nameOf(declaration)
    const last = await lastIn(this.#mongo, model)
    if (last === undefined || last.released) return false
    for (let beats = 0; beats < 4; beats++) {
      await new Promise((done) => setTimeout(done, BEAT))
      const now = await lastIn(this.#mongo, model)
      if (now !== undefined && (now.epoch !== last.epoch || now.beat !== last.beat)) return !now.released
    }
    return false
  }

  /** Ends the signs of life; what is still held falls to others in 4 s. */
  close(): void {
    this.#heartbeat.end()
  }

  get #epochs() {
    return epochsIn(this.#mongo)
  }

  #epochAfter(model: string, last: Epoch | undefined): Epoch {
    const epoch = (last?.epoch ?? 0) + 1
    return { _id: `${model}/${epoch}`, model, epoch, holder: this.#holder, beat: 0, released: false }
  }

  async #hasEnded({ _id, model, epoch, beat }: Epoch): Promise<boolean> {
    const life = this.#signs.look(model, `${epoch}/${beat}`)
    if (life === 'doubted') {
      await this.#mongo.call(() => this.#epochs.updateOne({ _id }, { $set: { doubted: randomUUID() } }))
      this.#signs.sure(model)
    }
    return life === 'ended'
  }
}

const nameOf = ({ name, version }: ModelDeclaration) => `${name}-v${version}`
