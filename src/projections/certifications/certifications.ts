import { load } from '../../events/load.ts'
import type {
  Certification,
  CertificationAttached,
  CertificationRemoved,
} from '../../domain/certification/certification.ts'
import {
  certificationOf,
  diamondDecider,
  diamondIn,
  diamondStream,
  type Diamond,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import type { EventStore, From, StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { Patience, type Progress } from '../engine/progress.ts'
import { readModel } from '../engine/read-model.ts'

export type CertificationPlace = { readonly id: number; readonly diamond: number; readonly digest: string }

/**
 * Which diamond a certification stands with, since its own id is all that a request names, and which files are in use.
 * digest: '' where there is no file.
 */
export const certifications = readModel<CertificationPlace>({
  name: 'certifications',
  version: 1,
  follows: ['diamond-'],
  on: ['CertificationAttached', 'CertificationRemoved'],
  documents: {
    fields: { id: 'integer', diamond: 'integer', digest: 'text' },
    texts: [],
    indexes: [['digest']],
    counts: [],
  },
  keyOf: (event) => decode<CertificationAttached | CertificationRemoved>(event).data.id,
  begins: ({ type }) => type === 'CertificationAttached',
  evolve: (place, event) => (event.type === 'CertificationRemoved' ? undefined : (place ?? placeOf(event))),
  toDocument: ({ id, diamond, digest }) => ({ id, diamond, digest }),
  fromDocument: ({ id, diamond, digest }) => ({ id: Number(id), diamond: Number(diamond), digest: String(digest) }),
})

function placeOf(event: StoredEvent): CertificationPlace {
  const { id, file } = decode<CertificationAttached>(event).data
  return { id, diamond: diamondIn(event.stream), digest: file?.digest ?? '' }
}

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
