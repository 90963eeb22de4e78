import type { Told } from '../ports/told.ts'
import { unavailable } from './failure.ts'

/** Told of what ended a subscription that is taken up again. */
export type Interrupted = (error: unknown) => void

/**
 * A subscription is made anew for ever, and a process that only follows has nobody who would be refused meanwhile: the log
 * learns of each failure, and tells of them as of one outage.
 */
export const interruptedBy =
  (told: Told): Interrupted =>
  (error) =>
    told(
      { err: unavailable('the log can not be followed', error), repeats: true },
      'following the log is interrupted; trying again',
    )
