import { load } from '../../commands/core/load.ts'
import {
  certificationOf,
  diamondDecider,
  diamondIn,
  diamondStream,
  type Diamond,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import type { Certification } from '../../domain/certification/certification.ts'
import type { EventStore, From, StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { certifications } from './certifications.ts'
import { Patience } from '../engine/patience.ts'
import type { Progress } from '../engine/progress.ts'

/** A certification, and the stone that it stands with. */
export type CertifiedStone = { readonly certification: Certification; readonly diamond: LiveDiamond }

/** What requests and reactions ask about certifications. */
export class CertificationQueries {
  constructor(
    private readonly model: ReadModel,
    private readonly store: EventStore,
    private readonly progress: Progress,
  ) {}

  /** The diamond that a certification was attached to. A certification never changes its diamond. */
  async diamondOf(id: number, patience = new Patience()): Promise<number | undefined> {
    const known = await this.#stored(id)
    if (known !== undefined) return known
    const head = await this.store.head()
    const isCurrent = await patience.during((ms) => this.progress.reached(head, ms))
    // Read first: an event that the model folds after this is found in it, or searched for behind this position.
    const position = await this.model.position()
    const found = (await this.#stored(id)) ?? (await this.#setAside(id))
    return found ?? (isCurrent ? undefined : this.#searched(id, position))
  }

  /** As the log has it now: one that is gone is gone at once, however far behind the read model is. */
  async one(id: number): Promise<CertifiedStone | undefined> {
    const diamond = await this.diamondOf(id)
    const state = diamond === undefined ? diamondDecider.initialState : await this.#folded(diamond)
    const certification = certificationOf(state, id)
    return state.status === 'live' && certification !== undefined ? { certification, diamond: state } : undefined
  }

  /** A diamond's certification, as the log has it now. */
  async of(diamond: number, id: number): Promise<Certification | undefined> {
    return certificationOf(await this.#folded(diamond), id)
  }

  async #folded(diamond: number): Promise<Diamond> {
    return (await load(this.store, diamondStream(diamond), diamondDecider)).state
  }

  async #stored(id: number): Promise<number | undefined> {
    const place = await this.model.get(id, ['diamond'])
    return place === undefined ? undefined : Number(place['diamond'])
  }

  /** Among the streams that the read model has set aside: what was attached to a diamond there is none the less known. */
  async #setAside(id: number): Promise<number | undefined> {
    for (const stream of await this.model.parked()) {
      const attached = (await this.store.read(stream)).find((event) => isAttached(event, id))
      if (attached !== undefined) return diamondIn(attached.stream)
    }
    return undefined
  }

  /** Among the events behind this position of the read model. */
  async #searched(id: number, from: From): Promise<number | undefined> {
    for await (const event of this.store.readAll(from, { prefixes: certifications.follows })) {
      if (isAttached(event, id)) return diamondIn(event.stream)
    }
    return undefined
  }
}

const isAttached = ({ type, data }: StoredEvent, id: number) => type === 'CertificationAttached' && data['id'] === id
