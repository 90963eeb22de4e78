import { hash } from 'node:crypto'
import { scoredEventId } from '../../commands/scores/score-diamonds.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { RESTORE_REMEDY, type Differences } from './differences.ts'

/** The last event of a stream; `at` is milliseconds since 1970. */
export type StreamEnd = { readonly revision: number; readonly at: number }

const FIRST_SIZE = 1 << 12

/**
 * A hash table of stream ends with 24 bytes per slot and a load factor of at most 1/2: about 50 MB for a million streams, where a Map
 * by name takes hundreds of MB. The keys are 64 bits of the SHA-1 of the stream names: with a million streams, two collide in one of
 * 37 million logs. Reading the stream shows whether a reported difference is due to a collision.
 */
class StreamEnds {
  #size = FIRST_SIZE
  #keys = new BigUint64Array(FIRST_SIZE)
  #revisions = new Float64Array(FIRST_SIZE)
  #times = new Float64Array(FIRST_SIZE)
  #streams = 0

  get(stream: string): StreamEnd | undefined {
    const place = this.#placeOf(keyOf(stream))
    if (this.#keys[place] === 0n) return undefined
    return { revision: this.#revisions[place] ?? 0, at: this.#times[place] ?? 0 }
  }

  set(stream: string, { revision, at }: StreamEnd): void {
    const key = keyOf(stream)
    const place = this.#placeOf(key)
    const isNew = this.#keys[place] === 0n
    this.#put(place, key, revision, at)
    if (isNew && ++this.#streams * 2 > this.#size) this.#grow()
  }

  #placeOf(key: bigint): number {
    let place = Number(key & BigInt(this.#size - 1))
    while (this.#keys[place] !== 0n && this.#keys[place] !== key) place = (place + 1) % this.#size
    return place
  }

  #put(place: number, key: bigint, revision: number, at: number): void {
    this.#keys[place] = key
    this.#revisions[place] = revision
    this.#times[place] = at
  }

  #grow(): void {
    const [keys, revisions, times] = [this.#keys, this.#revisions, this.#times]
    this.#size *= 2
    this.#keys = new BigUint64Array(this.#size)
    this.#revisions = new Float64Array(this.#size)
    this.#times = new Float64Array(this.#size)
    for (const [place, key] of keys.entries()) {
      if (key !== 0n) this.#put(this.#placeOf(key), key, revisions[place] ?? 0, times[place] ?? 0)
    }
  }
}

/** Never 0, which marks an empty slot. */
const keyOf = (stream: string): bigint => hash('sha1', stream, 'buffer').readBigUInt64LE() | 1n

/**
 * What is wrong with the id of an event whose id derives from its content; undefined otherwise. Ids of events from client commands
 * derive from the command's id, which is not recorded.
 */
function wrongId(event: StoredEvent): string | undefined {
  const promised = deriveEventId(event)
  return promised === undefined || promised === event.id ? undefined : `has the id ${event.id}, not ${promised}`
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

const UNDECODABLE_REMEDY =
  'if a newer release wrote it, run verify with that release; else the log was altered outside of the service: run npx adamant restore'

/**
 * Checks events and their order within their stream: revisions count from 0 without gaps, `at` does not decrease, this release can
 * decode the event, and an id that derives from the content is correct.
 */
export class StreamRules {
  readonly #ends = new StreamEnds()
  eventCount = 0
  /** Streams with reported differences. */
  readonly faultyStreams = new Set<string>()

  constructor(private readonly found: Differences) {}

  check(event: StoredEvent): void {
    this.eventCount++
    this.#checkOrder(event)
    const fault = faultIn(event)
    if (fault !== undefined) this.#report(event, fault, UNDECODABLE_REMEDY)
    const id = wrongId(event)
    if (id !== undefined) this.#report(event, id, RESTORE_REMEDY)
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
    const next = last === undefined ? 0 : last.revision + 1
    if (revision > next) this.#report(event, describeGap(next, revision - 1), RESTORE_REMEDY)
    if (revision < next)
      this.#report(event, `follows revision ${next - 1}, so its revision must be ${next}`, RESTORE_REMEDY)
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
    this.#ends.set(stream, { revision: Math.max(revision, next - 1), at: latest })
  }

  #report({ stream, revision, type }: StoredEvent, what: string, remedy: string): void {
    this.faultyStreams.add(stream)
    this.found.add({ where: `${stream}@${revision}`, what: `${type} ${what}`, do: remedy })
  }
}

const iso = (at: number) => new Date(at).toISOString()

const describeGap = (from: number, to: number) =>
  from === to ? `follows a gap: revision ${from} is missing` : `follows a gap: revisions ${from} to ${to} are missing`

function faultIn(event: StoredEvent): string | undefined {
  try {
    decode(event)
    return undefined
  } catch (error) {
    return `cannot be decoded: ${error instanceof Error ? error.message : String(error)}`
  }
}
