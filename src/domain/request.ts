/** A request that carried an Idempotency-Key was carried out: what it made, and a digest of what it asked for. */
export type RequestDone = {
  readonly type: 'RequestDone'
  readonly data: { readonly body: string; readonly diamonds: readonly number[] }
}

/** For so long the same key gives the first answer again: 24 hours, in milliseconds. */
export const KEY_LIFE = 24 * 60 * 60 * 1000
