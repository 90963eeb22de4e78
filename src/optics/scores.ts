/** The scores of a diamond and their members, in the order of v4. */
export const SCORE_MEMBERS = {
  integral: ['val', 'rg', 'd', 'ver'],
  spread: ['ct', 'pc', 'd', 'ver'],
  fire: ['val', 'rg', 'd', 'ver'],
  brilliance: ['val', 'rg', 'd', 'faceup', 'avg', 'ver'],
  fluor: ['n', 'f', 'm', 's', 'vs', 'color', 'colorCode', 'ver'],
  symmetry: ['val', 'pav', 'crown', 'd', 'ver'],
} as const

export type ScoreName = keyof typeof SCORE_MEMBERS

/** The string members: the version of the algorithm, and a short form of the dictionary fluorColor. */
type TextMember = 'ver' | 'colorCode'
export const isTextMember = (member: string): member is TextMember => member === 'ver' || member === 'colorCode'

type ScoreMember<Name extends ScoreName> = (typeof SCORE_MEMBERS)[Name][number]

/** The optical scores of a diamond, as in v4. A score that cannot be computed is null. */
export type Scores = {
  readonly [Name in ScoreName]:
    | {
        readonly [Member in ScoreMember<Name>]: Member extends TextMember ? string : number
      }
    | null
}
