/** The optical scores of one diamond, as v4 shows them. A score that can't be computed is null; its key stays. */
export type Scores = {
  readonly integral: { readonly val: number; readonly rg: number; readonly d: number; readonly ver: string } | null
  readonly spread: { readonly ct: number; readonly pc: number; readonly d: number; readonly ver: string } | null
  readonly fire: { readonly val: number; readonly rg: number; readonly d: number; readonly ver: string } | null
  readonly brilliance: {
    readonly val: number
    readonly rg: number
    readonly d: number
    readonly faceup: number
    readonly avg: number
    readonly ver: string
  } | null
  readonly fluor: {
    readonly n: number
    readonly f: number
    readonly m: number
    readonly s: number
    readonly vs: number
    readonly color: number
    readonly colorCode: string
    readonly ver: string
  } | null
  readonly symmetry: {
    readonly val: number
    readonly pav: number
    readonly crown: number
    readonly d: number
    readonly ver: string
  } | null
}

/** On a stream of its own, `scores-{id}`, so that scoring never races the owner's changes. */
export type DiamondScored = {
  readonly type: 'DiamondScored'
  /** revision: of the diamond's last event that the scores were computed for, as text; scores of an older stone are ignored. */
  readonly data: { readonly id: number; readonly revision: number; readonly scores: Scores }
}
