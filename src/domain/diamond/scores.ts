import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'
import { latestEventDecider } from '../decider.ts'

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
export type TextMember = 'ver' | 'colorCode'
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

const score = (members: readonly string[]) =>
  z.object(Object.fromEntries(members.map((name) => [name, isTextMember(name) ? z.string() : z.number()])))

type ScoreSchemas = { readonly [Name in keyof Scores]: z.ZodType<Scores[Name]> }

const scores = z.object(
  Object.fromEntries(
    Object.entries(SCORE_MEMBERS).map(([name, members]) => [name, score(members).nullable()]),
  ) as unknown as ScoreSchemas,
)

/** In a separate stream, so that scoring never conflicts with changes by the owner. */
export const scoresEvents = declareEvents('scores-{id}', {
  DiamondScored: {
    about: 'The optical scores of a diamond were computed.',
    payload: z.object({
      id: z.int().min(1).describe('id of the diamond'),
      revision: z.int().min(0).describe('revision of the diamond for which they were computed'),
      scores,
    }),
  },
})
export type DiamondScored = EventOf<typeof scoresEvents>

export const scoresDecider = latestEventDecider<DiamondScored>('DiamondScored')

/**
 * No event if scores of this revision of the diamond, or of a later one, are recorded: a new version of the model does
 * not replace stored scores.
 */
export const recordScores = (last: DiamondScored['data'] | undefined, data: DiamondScored['data']): DiamondScored[] =>
  last !== undefined && last.revision >= data.revision ? [] : [{ type: 'DiamondScored', data }]

/** Like recordScores, but also replaces scores of the same revision: they are of another version of the model. */
export const replaceScores = (last: DiamondScored['data'] | undefined, data: DiamondScored['data']): DiamondScored[] =>
  last !== undefined && last.revision > data.revision ? [] : [{ type: 'DiamondScored', data }]
