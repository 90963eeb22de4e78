import type { Decider } from '../decider.ts'

/** Of what ids there are: each kind counts for itself, in the stream `ids-{kind}`. */
export const ID_KINDS = ['account', 'client', 'diamond', 'certification', 'webhook'] as const
export const IDS = 'ids-'

/** Integers `from` to `to`, both included, that one process alone may give out. */
export type IdsReserved = {
  readonly type: 'IdsReserved'
  readonly data: { readonly from: number; readonly to: number }
}

/** The last integer that was reserved; 0 for none. Each event tells it. */
export const idsDecider: Decider<number, IdsReserved> = {
  initialState: 0,
  evolve: (_last, { data }) => data.to,
  newest: { count: 1, suffices: () => true },
}

/** Reserves the `size` integers that follow the last reserved one; the first integer ever is 1. */
export const reserve = (last: number, size: number): IdsReserved => ({
  type: 'IdsReserved',
  data: { from: last + 1, to: last + size },
})
