import { hash } from 'node:crypto'
import { scoredEventId } from '../../commands/scores/score-diamonds.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { RESTORE_REMEDY, type Differences } from './differences.ts'

/**
 * Checks events and their order within their stream: revisions count from 0 without gaps, `at` does not decrease, this release can
 * decode the event, and an id that derives from the content is correct.
 */
export class StreamRules {
  readonly #ends = new StreamEnds()
  eventCount = 0
  /** Streams with reported differences. */
  readonly faultyStreams = new Set<string>()

  constructor(private readonly differences: Differences) {}

  check(event: StoredEvent): void {
    this.eventCount++
    this.#checkOrder(event)
    const fault = faultOfPayload(event)
    if (fault !== undefined) this.#report(event, fault, UNDECODABLE_REMEDY)
    const idFault = faultOfId(event)
    if (idFault !== undefined) this.#report(event, idFault, RESTORE_REMEDY)
  }

  /** Counts an unreadable event, which still has a revision. */
  skipDamaged({ stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>): void {
    this.eventCount++
    this.faultyStreams.add(stream)
    this.#ends.set(stream, { revision: Number(revision), at: this.#ends.get(stream)?.at ?? 0 })
  }

  #checkOrder(event: StoredEvent): void {
    const { stream } = event
    const last = this.#ends.get(stream)
    const revision = Number(event.revision)
    const nextRevision = last === undefined ? 0 : last.revision + 1
    if (revision > nextRevision) this.#report(event, describeGap(nextRevision, revision - 1), RESTORE_REMEDY)
    if (revision < nextRevision)
      this.#report(
        event,
        `follows revision ${nextRevision - 1}, so its revision must be ${nextRevision}`,
        RESTORE_REMEDY,
      )
    const at = Date.parse(event.metadata['at'] ?? '')
    if (Number.isNaN(at)) this.#report(event, `has no valid time in \`at\``, RESTORE_REMEDY)
    else if (last !== undefined && at < last.at) {
      this.#report(
        event,
        `has the time ${iso(at)}, which is before that of the previous event, ${iso(last.at)}`,
        RESTORE_REMEDY,
      )
    }
    const latest = Math.max(Number.isNaN(at) ? 0 : at, last?.at ?? 0)
    this.#ends.set(stream, { revision: Math.max(revision, nextRevision - 1), at: latest })
  }

  #report({ stream, revision, type }: StoredEvent, what: string, remedy: string): void {
    this.faultyStreams.add(stream)
    this.differences.add({ where: `${stream}@${revision}`, what: `${type} ${what}`, do: remedy })
  }
}

/** The last event of a stream; `at` is milliseconds since 1970. */
type StreamEnd = { readonly revision: number; readonly at: number }

/**
 * A hash table of stream ends with 24 bytes per slot and a load factor of at most 1/2: about 50 MB for a million streams, where a Map
 * by name takes hundreds of MB. The keys are 64 bits of the SHA-1 of the stream names: with a million streams, two collide in one of
 * 37 million logs. Reading the stream shows whether a reported difference is due to a collision.
 */
class StreamEnds {
  #capacity = INITIAL_CAPACITY
  #keys = new BigUint64Array(INITIAL_CAPACITY)
  #revisions = new Float64Array(INITIAL_CAPACITY)
  #times = new Float64Array(INITIAL_CAPACITY)
  #streamCount = 0

  get(stream: string): StreamEnd | undefined {
    const slot = this.#findSlot(keyOf(stream))
    if (this.#keys[slot] === 0n) return undefined
    return { revision: this.#revisions[slot] ?? 0, at: this.#times[slot] ?? 0 }
  }

  set(stream: string, { revision, at }: StreamEnd): void {
    const key = keyOf(stream)
    const slot = this.#findSlot(key)
    const isNew = this.#keys[slot] === 0n
    this.#put(slot, key, revision, at)
    if (isNew && ++this.#streamCount * 2 > this.#capacity) this.#grow()
  }

  #findSlot(key: bigint): number {
    let slot = Number(key & BigInt(this.#capacity - 1))
    while (this.#keys[slot] !== 0n && this.#keys[slot] !== key) slot = (slot + 1) % this.#capacity
    return slot
  }

  #put(slot: number, key: bigint, revision: number, at: number): void {
    this.#keys[slot] = key
    this.#revisions[slot] = revision
    this.#times[slot] = at
  }

  #grow(): void {
    const [keys, revisions, times] = [this.#keys, this.#revisions, this.#times]
    this.#capacity *= 2
    this.#keys = new BigUint64Array(this.#capacity)
    this.#revisions = new Float64Array(this.#capacity)
    this.#times = new Float64Array(this.#capacity)
    for (const [slot, key] of keys.entries()) {
      if (key !== 0n) this.#put(this.#findSlot(key), key, revisions[slot] ?? 0, times[slot] ?? 0)
    }
  }
}

const INITIAL_CAPACITY = 1 << 12

/** Never 0, which marks an empty slot. */
const keyOf = (stream: string): bigint => hash('sha1', stream, 'buffer').readBigUInt64LE() | 1n

function faultOfPayload(event: StoredEvent): string | undefined {
  try {
    decode(event)
    return undefined
  } catch (error) {
    return `cannot be decoded: ${error instanceof Error ? error.message : String(error)}`
  }
}

const UNDECODABLE_REMEDY =
  'if a newer release wrote it, run verify with that release; else the log was altered outside of the service: run adamant restore'

/**
 * What is wrong with the id of an event whose id derives from its content; undefined otherwise. Ids of events from client commands
 * derive from the command's id, which is not recorded.
 */
function faultOfId(event: StoredEvent): string | undefined {
  const derivedId = deriveEventId(event)
  return derivedId === undefined || derivedId === event.id ? undefined : `has the id ${event.id}, not ${derivedId}`
}

function deriveEventId({ type, stream, data }: StoredEvent): string | undefined {
  if (type === 'DiamondScored') return idOfScores(data)
  if (type === 'LogRestored' && stream === RESTORES_STREAM) return eventId(`${stream}/restored/${data['epoch']}`, 0)
  return undefined
}

/** Undefined if one of the two scoring models gave no score, since its version is not recorded then. */
function idOfScores({ id, revision, scores }: StoredEvent['data']): string | undefined {
  const { fluor, ...optical } = (scores ?? {}) as Readonly<Record<string, { readonly ver?: unknown } | null>>
  const optics = Object.values(optical).find((score) => typeof score?.ver === 'string')?.ver
  if (typeof id !== 'number' || typeof revision !== 'number') return undefined
  if (typeof optics !== 'string' || typeof fluor?.ver !== 'string') return undefined
  return scoredEventId(id, revision, `${optics},${fluor.ver}`)
}

const describeGap = (from: number, to: number) =>
  from === to ? `follows a gap: revision ${from} is missing` : `follows a gap: revisions ${from} to ${to} are missing`

const iso = (at: number) => new Date(at).toISOString()
