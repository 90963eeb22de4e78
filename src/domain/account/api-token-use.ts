import { newestOf } from '../decider.ts'

/** An API token was used `at`, in milliseconds since 1970; written once an hour at most. A stream of its own keeps accounts short. */
export type ApiTokenUsed = { readonly type: 'ApiTokenUsed'; readonly data: { readonly at: number } }

export const apiTokenUseDecider = newestOf<ApiTokenUsed>('ApiTokenUsed')

/** Milliseconds within which uses count as one. */
export const ONE_USE = 3_600_000

/** Nothing where a use of the last hour is known already, of whatever process. */
export function used(last: ApiTokenUsed['data'] | undefined, now: number): ApiTokenUsed[] {
  if (last !== undefined && now - last.at < ONE_USE) return []
  return [{ type: 'ApiTokenUsed', data: { at: now } }]
}
