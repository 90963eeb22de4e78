import { hash } from 'node:crypto'
import { scoredEventId } from '../../commands/scores/score-diamonds.ts'
import { RESTORES_STREAM } from '../../domain/installation/installation.ts'
import { decode } from '../../events/decode.ts'
import { eventId } from '../../events/event-metadata.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { RESTORE_REMEDY, type Differences } from './differences.ts'

/** The last event of a stream: its revision, and its time in milliseconds since 1970. */
export type StreamEnd = { readonly revision: number; readonly at: number }

const FIRST_SIZE = 1 << 12

/**
 * The ends of any number of streams in 24 bytes each, at most half of the places taken: a million streams are some 50 MB, where a Map by
 * name would take hundreds. Streams are known by 64 bits of their names' SHA-1: two of a million share them once in 37 million logs, and
 * whoever finds a fault by it reads that stream again.
 */
class StreamEnds {
  #size = FIRST_SIZE
  #keys = new BigUint64Array(FIRST_SIZE)
  #revisions = new Float64Array(FIRST_SIZE)
  #times = new Float64Array(FIRST_SIZE)
  #streams = 0

  /** @returns undefined before its first event */
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

/** Never 0, which stands for an empty place. */
const keyOf = (stream: string): bigint => hash('sha1', stream, 'buffer').readBigUInt64LE() | 1n

/**
 * What is wrong with the id of an event where it follows from what the event says; undefined where nothing is. Ids of commands follow from
 * the command's own id, which is nowhere on record.
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

/** Where one of the two models gave no score, its version is nowhere on record. */
function idOfScores({ id, revision, scores }: StoredEvent['data']): string | undefined {
  const { fluor, ...optical } = (scores ?? {}) as Readonly<Record<string, { readonly ver?: unknown } | null>>
  const optics = Object.values(optical).find((score) => typeof score?.ver === 'string')?.ver
  if (typeof id !== 'number' || typeof revision !== 'number') return undefined
  if (typeof optics !== 'string' || typeof fluor?.ver !== 'string') return undefined
  return scoredEventId(id, revision, `${optics},${fluor.ver}`)
}

const UNDECODABLE_REMEDY =
  'where a newer release wrote it, verify with that one; else the log was changed behind the service: `npx adamant restore`'

/**
 * What holds of every event by itself, and of it and the one before it in its stream: revisions count from 0 without a gap, `at` does
 * not go back, this release understands it, and its id is the one it must have where that follows from what it says.
 */
export class StreamRules {
  readonly #ends = new StreamEnds()
  eventCount = 0
  /** Streams of which something was told. */
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

  /** One whose text is damaged is still counted in its stream. */
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
    if (revision > next) this.#report(event, `${describeGap(next, revision - 1)} before it`, RESTORE_REMEDY)
    if (revision < next)
      this.#report(event, `stands behind revision ${next - 1}, where ${next} should be`, RESTORE_REMEDY)
    const at = Date.parse(event.metadata['at'] ?? '')
    if (Number.isNaN(at)) this.#report(event, `has no time that can be read in \`at\``, RESTORE_REMEDY)
    else if (last !== undefined && at < last.at) {
      this.#report(event, `is of ${iso(at)}, and the one before it of ${iso(last.at)}: time goes back`, RESTORE_REMEDY)
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
  from === to ? `lacks revision ${from}` : `lacks revisions ${from} to ${to}`

function faultIn(event: StoredEvent): string | undefined {
  try {
    decode(event)
    return undefined
  } catch (error) {
    return `can't be understood: ${error instanceof Error ? error.message : String(error)}`
  }
}
