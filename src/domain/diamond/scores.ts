import { z } from 'zod'
import { declareEvents, type EventOf } from '../event.ts'
import { latestEventFold } from '../fold.ts'
import { isTextMember, SCORE_MEMBERS, type Scores } from '../../optics/scores.ts'

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

export const scoresFold = latestEventFold<DiamondScored>('DiamondScored')

/**
 * No event if scores of this revision of the diamond, or of a later one, are recorded: a new version of the model does
 * not replace stored scores.
 */
export const recordScores = (last: DiamondScored['data'] | undefined, data: DiamondScored['data']): DiamondScored[] =>
  last !== undefined && last.revision >= data.revision ? [] : [{ type: 'DiamondScored', data }]

/** Like recordScores, but also replaces scores of the same revision: they are of another version of the model. */
export const replaceScores = (last: DiamondScored['data'] | undefined, data: DiamondScored['data']): DiamondScored[] =>
  last !== undefined && last.revision > data.revision ? [] : [{ type: 'DiamondScored', data }]
