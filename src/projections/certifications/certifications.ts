import { loadStream } from '../../events/load-stream.ts'
import type {
  Certification,
  CertificationAttached,
  CertificationRemoved,
} from '../../domain/certification/certification.ts'
import {
  findCertification,
  diamondDecider,
  diamondIdOfStream,
  diamondStream,
  type Diamond,
  type LiveDiamond,
} from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import type { EventStore, PositionOrStart, StoredEvent } from '../../stores/ports/event-store.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { WaitBudget, type ProjectionProgress } from '../engine/progress.ts'
import { defineReadModel } from '../engine/read-model.ts'

export type CertificationReference = { readonly id: number; readonly diamond: number; readonly digest: string }

/**
 * Which diamond a certification stands with, since its own id is all that a request names, and which files are in use.
 * digest: '' where there is no file.
 */
export const certifications = defineReadModel<CertificationReference>({
  name: 'certifications',
  version: 1,
  streamPrefixes: ['diamond-'],
  eventTypes: ['CertificationAttached', 'CertificationRemoved'],
  documents: {
    fields: { id: 'integer', diamond: 'integer', digest: 'text' },
    texts: [],
    indexes: [['digest']],
    counts: [],
  },
  keyOf: (event) => decode<CertificationAttached | CertificationRemoved>(event).data.id,
  createsDocument: ({ type }) => type === 'CertificationAttached',
  evolve: (place, event) => (event.type === 'CertificationRemoved' ? undefined : (place ?? toReference(event))),
  toDocument: ({ id, diamond, digest }) => ({ id, diamond, digest }),
  fromDocument: ({ id, diamond, digest }) => ({ id: Number(id), diamond: Number(diamond), digest: String(digest) }),
})

function toReference(event: StoredEvent): CertificationReference {
  const { id, file } = decode<CertificationAttached>(event).data
  return { id, diamond: diamondIdOfStream(event.stream), digest: file?.digest ?? '' }
}

/** A certification, and the stone that it stands with. */
export type CertifiedStone = { readonly certification: Certification; readonly diamond: LiveDiamond }

/** What requests and reactions ask about certifications. */
export class CertificationQueries {
  constructor(
    private readonly model: ReadModel,
    private readonly store: EventStore,
    private readonly progress: ProjectionProgress,
  ) {}

  /** The diamond that a certification was attached to. A certification never changes its diamond. */
  async diamondOf(id: number, patience = new WaitBudget()): Promise<number | undefined> {
    const known = await this.#diamondInReadModel(id)
    if (known !== undefined) return known
    const head = await this.store.head()
    const isCurrent = await patience.spendOn((ms) => this.progress.waitForPosition(head, ms))
    // Read first: an event that the model folds after this is found in it, or searched for behind this position.
    const position = await this.model.position()
    const found = (await this.#diamondInReadModel(id)) ?? (await this.#diamondInParkedStreams(id))
    return found ?? (isCurrent ? undefined : this.#diamondInNewerEvents(id, position))
  }

  /** As the log has it now: one that is gone is gone at once, however far behind the read model is. */
  async findWithDiamond(id: number): Promise<CertifiedStone | undefined> {
    const diamond = await this.diamondOf(id)
    const state = diamond === undefined ? diamondDecider.initialState : await this.#folded(diamond)
    const certification = findCertification(state, id)
    return state.status === 'live' && certification !== undefined ? { certification, diamond: state } : undefined
  }

  /** A diamond's certification, as the log has it now. */
  async findCertification(diamond: number, id: number): Promise<Certification | undefined> {
    return findCertification(await this.#folded(diamond), id)
  }

  async #folded(diamond: number): Promise<Diamond> {
    return (await loadStream(this.store, diamondStream(diamond), diamondDecider)).state
  }

  async #diamondInReadModel(id: number): Promise<number | undefined> {
    const place = await this.model.get(id, ['diamond'])
    return place === undefined ? undefined : Number(place['diamond'])
  }

  /** Among the streams that the read model has set aside: what was attached to a diamond there is none the less known. */
  async #diamondInParkedStreams(id: number): Promise<number | undefined> {
    for (const stream of await this.model.parkedStreams()) {
      const attached = (await this.store.read(stream)).find((event) => isAttached(event, id))
      if (attached !== undefined) return diamondIdOfStream(attached.stream)
    }
    return undefined
  }

  /** Among the events behind this position of the read model. */
  async #diamondInNewerEvents(id: number, from: PositionOrStart): Promise<number | undefined> {
    for await (const event of this.store.readAll(from, { prefixes: certifications.streamPrefixes })) {
      if (isAttached(event, id)) return diamondIdOfStream(event.stream)
    }
    return undefined
  }
}

const isAttached = ({ type, data }: StoredEvent, id: number) => type === 'CertificationAttached' && data['id'] === id
