/**
 * Several changes that can't be written at once were accepted: from here on they are carried out, whoever does it. They
 * are divided into parts where one event would be too large; only with the last part is the bulk accepted.
 */
export type RequestAccepted = {
  readonly type: 'RequestAccepted'
  readonly data: {
    /** A digest of what was asked for. */
    readonly body: string
    /** What the bulk makes or changes. */
    readonly diamonds: readonly number[]
    /** Counted from 1. */
    readonly part: number
    readonly parts: number
    readonly changes: readonly AcceptedChange[]
  }
}

/** Events of one stream, with the revision that the stream had when they were decided; null is a stream without events. */
export type AcceptedChange = {
  readonly stream: string
  readonly expected: number | null
  readonly events: readonly {
    readonly id: string
    readonly type: string
    /** The version of its payload; the first one where it is not told, as by releases that knew no other. */
    readonly schema?: string
    readonly data: Readonly<Record<string, unknown>>
  }[]
}

/** What was asked for under an Idempotency-Key, or a bulk, was carried out: what it made, and a digest of what it asked for. */
export type RequestDone = {
  readonly type: 'RequestDone'
  readonly data: { readonly body: string; readonly diamonds: readonly number[] }
}

/** For so long the same key gives the first answer again: 24 hours, in milliseconds. */
export const KEY_LIFE = 24 * 60 * 60 * 1000
