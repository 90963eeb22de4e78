import { loadStream } from '../../events/load-stream.ts'
import type {
  Certification,
  CertificationAttached,
  CertificationRemoved,
} from '../../domain/certification/certification.ts'
import {
  findCertification,
  diamondFold,
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

type CertificationReference = { readonly id: number; readonly diamond: number; readonly digest: string }

/**
 * Maps a certification id, the only id that requests name, to its diamond, and lists the files in use. `digest` is ''
 * if there is no file.
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
  evolve: (reference, event) => (event.type === 'CertificationRemoved' ? undefined : (reference ?? toReference(event))),
  toDocument: ({ id, diamond, digest }) => ({ id, diamond, digest }),
  fromDocument: ({ id, diamond, digest }) => ({ id: Number(id), diamond: Number(diamond), digest: String(digest) }),
})

function toReference(event: StoredEvent): CertificationReference {
  const { id, file } = decode<CertificationAttached>(event).data
  return { id, diamond: diamondIdOfStream(event.stream), digest: file?.digest ?? '' }
}

type CertifiedStone = { readonly certification: Certification; readonly diamond: LiveDiamond }

export class CertificationQueries {
  constructor(
    private readonly model: ReadModel,
    private readonly store: EventStore,
    private readonly progress: ProjectionProgress,
  ) {}

  /** The diamond of a certification; it never changes. */
  async diamondOf(id: number, budget = new WaitBudget()): Promise<number | undefined> {
    const known = await this.#diamondInReadModel(id)
    if (known !== undefined) return known
    const head = await this.store.head()
    const isCurrent = await budget.spendOn((ms) => this.progress.waitForPosition(head, ms))
    // Read the position first: an event folded after this is then found in the model, or searched for after this
    // position.
    const position = await this.model.position()
    const found = (await this.#diamondInReadModel(id)) ?? (await this.#diamondInParkedStreams(id))
    return found ?? (isCurrent ? undefined : this.#diamondInNewerEvents(id, position))
  }

  /** From the event log, so a deleted certification is not found even if the read model is behind. */
  async findWithDiamond(id: number): Promise<CertifiedStone | undefined> {
    const diamond = await this.diamondOf(id)
    const state = diamond === undefined ? diamondFold.initialState : await this.#loadDiamond(diamond)
    const certification = findCertification(state, id)
    return state.status === 'live' && certification !== undefined ? { certification, diamond: state } : undefined
  }

  /** A diamond's certification, from the event log. */
  async findCertification(diamond: number, id: number): Promise<Certification | undefined> {
    return findCertification(await this.#loadDiamond(diamond), id)
  }

  async #loadDiamond(diamond: number): Promise<Diamond> {
    return (await loadStream(this.store, diamondStream(diamond), diamondFold)).state
  }

  async #diamondInReadModel(id: number): Promise<number | undefined> {
    const document = await this.model.get(id, ['diamond'])
    return document === undefined ? undefined : Number(document['diamond'])
  }

  /** Searches the streams that the read model has parked. */
  async #diamondInParkedStreams(id: number): Promise<number | undefined> {
    for (const stream of await this.model.parkedStreams()) {
      const attachment = (await this.store.readStream(stream)).find((event) => isAttached(event, id))
      if (attachment !== undefined) return diamondIdOfStream(attachment.stream)
    }
    return undefined
  }

  /** Searches the events after this position of the read model. */
  async #diamondInNewerEvents(id: number, from: PositionOrStart): Promise<number | undefined> {
    for await (const event of this.store.readAll(from, { prefixes: certifications.streamPrefixes })) {
      if (isAttached(event, id)) return diamondIdOfStream(event.stream)
    }
    return undefined
  }
}

const isAttached = ({ type, data }: StoredEvent, id: number) => type === 'CertificationAttached' && data['id'] === id
