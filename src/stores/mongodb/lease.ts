import { randomUUID } from 'node:crypto'
import type { Lease, ModelDeclaration } from '../read-store.ts'
import type { Mongo } from './connection.ts'
import { inserted } from './inserted.ts'
import { epochsIn, lastIn, type Epoch } from './lease/epochs.ts'
import { BEAT, HeldLease } from './lease/held.ts'

/**
 * Milliseconds without a sign after which a holder has ended, on the clock of whoever watches it: no two machines' clocks
 * are compared.
 */
const ENDED = 4_000

type Seen = { readonly epoch: number; readonly beat: number; readonly at: number }

/** The leases of one process in one database. */
export class Leases {
  readonly #mongo: Mongo
  readonly #holder = randomUUID()
  readonly #now: () => number
  readonly #seen = new Map<string, Seen>()
  readonly #held = new Set<HeldLease>()

  /** @param now milliseconds that never go back */
  constructor(mongo: Mongo, now: () => number) {
    this.#mongo = mongo
    this.#now = now
  }

  /** Undefined while another process holds it, and for 4 s after that one has ended without saying so. */
  async take(declaration: ModelDeclaration): Promise<Lease | undefined> {
    const model = nameOf(declaration)
    const last = await lastIn(this.#mongo, model)
    if (last !== undefined && !last.released && !this.#hasEnded(last)) return undefined
    const next = this.#epochAfter(model, last)
    if (!(await this.#mongo.call(() => inserted(this.#epochs, next)))) return undefined
    await this.#mongo.call(() => this.#epochs.deleteMany({ model, epoch: { $lt: next.epoch } }))
    const lease = new HeldLease(this.#mongo, next, () => this.#held.delete(lease))
    this.#held.add(lease)
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
    for (const lease of this.#held) lease.silence()
  }

  get #epochs() {
    return epochsIn(this.#mongo)
  }

  #epochAfter(model: string, last: Epoch | undefined): Epoch {
    const epoch = (last?.epoch ?? 0) + 1
    return { _id: `${model}/${epoch}`, model, epoch, holder: this.#holder, beat: 0, released: false }
  }

  /** Judged by the time since this process saw the sign for the first time. */
  #hasEnded({ model, epoch, beat }: Epoch): boolean {
    const seen = this.#seen.get(model)
    if (seen?.epoch === epoch && seen.beat === beat) return this.#now() - seen.at >= ENDED
    this.#seen.set(model, { epoch, beat, at: this.#now() })
    return false
  }
}

const nameOf = ({ name, version }: ModelDeclaration) => `${name}-v${version}`
