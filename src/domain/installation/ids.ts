/** Of what ids there are: each kind counts for itself, in the stream `ids-{kind}`. */
export const ID_KINDS = ['account', 'client', 'diamond', 'certification', 'webhook'] as const
export const IDS = 'ids-'

/** Integers `from` to `to`, both included, that one process alone may give out. */
export type IdsReserved = {
  readonly type: 'IdsReserved'
  readonly data: { readonly from: number; readonly to: number }
}

/** Reserves the `size` integers that follow the last reserved ones; the first integer ever is 1. */
export function reserve(last: IdsReserved | undefined, size: number): IdsReserved {
  const from = (last?.data.to ?? 0) + 1
  return { type: 'IdsReserved', data: { from, to: from + size - 1 } }
}
