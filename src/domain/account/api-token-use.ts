import type { Decider } from '../decider.ts'

/** An API token was used, told once an hour at most: a stream of its own, so that accounts stay short. */
export type ApiTokenUsed = { readonly type: 'ApiTokenUsed'; readonly data: { readonly at: number } }

/** Milliseconds since 1970; undefined until it was used. */
export type ApiTokenUse = { readonly lastUsedAt: number | undefined }

/** The newest use is all there is to know. */
export const apiTokenUseDecider: Decider<ApiTokenUse, ApiTokenUsed> = {
  initialState: { lastUsedAt: undefined },
  evolve: (use, event) => (event.type === 'ApiTokenUsed' ? { lastUsedAt: event.data.at } : use),
  newest: { count: 1, suffices: () => true },
}

/** Milliseconds within which uses count as one. */
export const ONE_USE = 3_600_000

/** Nothing where a use of the last hour is known already, of whatever process. */
export function used({ lastUsedAt }: ApiTokenUse, now: number): ApiTokenUsed[] {
  if (lastUsedAt !== undefined && now - lastUsedAt < ONE_USE) return []
  return [{ type: 'ApiTokenUsed', data: { at: now } }]
}
