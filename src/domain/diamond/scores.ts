import { newestOf } from '../decider.ts'

/** The scores of a diamond and the members of each, in the order in which v4 shows them. */
export const SCORES = {
  integral: ['val', 'rg', 'd', 'ver'],
  spread: ['ct', 'pc', 'd', 'ver'],
  fire: ['val', 'rg', 'd', 'ver'],
  brilliance: ['val', 'rg', 'd', 'faceup', 'avg', 'ver'],
  fluor: ['n', 'f', 'm', 's', 'vs', 'color', 'colorCode', 'ver'],
  symmetry: ['val', 'pav', 'crown', 'd', 'ver'],
} as const

export type ScoreName = keyof typeof SCORES

/** The members that are texts: the version of the algorithm, and a short form of the dictionary fluorColor. */
export type TextMember = 'ver' | 'colorCode'
export const isTextMember = (member: string): member is TextMember => member === 'ver' || member === 'colorCode'

type Members<Name extends ScoreName> = (typeof SCORES)[Name][number]

/** The optical scores of one diamond, as v4 shows them. A score that can't be computed is null; its key stays. */
export type Scores = {
  readonly [Name in ScoreName]:
    | {
        readonly [Member in Members<Name>]: Member extends TextMember ? string : number
      }
    | null
}

/** On a stream of its own, `scores-{id}`, so that scoring never races the owner's changes. */
export type DiamondScored = {
  readonly type: 'DiamondScored'
  /** revision: of the diamond's last event that the scores were computed for, as text; scores of an older stone are ignored. */
  readonly data: { readonly id: number; readonly revision: number; readonly scores: Scores }
}

export const scoresDecider = newestOf<DiamondScored>('DiamondScored')

/** Scores of the stone as it was later stay what they are. */
export const scored = (last: DiamondScored['data'] | undefined, data: DiamondScored['data']): DiamondScored[] =>
  last !== undefined && last.revision > data.revision ? [] : [{ type: 'DiamondScored', data }]
