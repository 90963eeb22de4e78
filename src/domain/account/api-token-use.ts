import { z } from 'zod'
import { eventsIn, TIME, type EventOf } from '../event.ts'
import { newestOf } from '../decider.ts'

/** A stream of its own keeps accounts short. */
export const apiTokenUseEvents = eventsIn('apitoken-{account}-{token}', {
  ApiTokenUsed: {
    about: 'A token of the secrets API was used; written once an hour at most.',
    payload: z.object({ at: TIME }),
  },
})
export type ApiTokenUsed = EventOf<typeof apiTokenUseEvents>

export const apiTokenUseDecider = newestOf<ApiTokenUsed>('ApiTokenUsed')

/** Milliseconds within which uses count as one. */
export const ONE_USE = 3_600_000

/** Nothing where a use of the last hour is known already, of whatever process. */
export function used(last: ApiTokenUsed['data'] | undefined, now: number): ApiTokenUsed[] {
  if (last !== undefined && now - last.at < ONE_USE) return []
  return [{ type: 'ApiTokenUsed', data: { at: now } }]
}
