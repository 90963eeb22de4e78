/**
 * What a test file needs, by its name: `*.test.ts` only this process, `*.slow.test.ts` processes that are killed, browsers
 * or the whole command line, `*.engines.test.ts` a server with EventStoreDB's or MongoDB's protocol.
 */
export const TIERS = ['quick', 'slow', 'engines'] as const

export type Tier = (typeof TIERS)[number]

const NAMED = /\.(slow|engines)\.test\.ts$/

export const tierOf = (file: string): Tier => {
  const [, tier] = NAMED.exec(file) ?? []
  return tier === 'slow' || tier === 'engines' ? tier : 'quick'
}

/** Files that run on the same engines (test/engines.ts). */
export type Group = { readonly engines?: string; readonly files: readonly string[] }

/**
 * The engines tier also runs the quick suites of the API, on these two servers, except those of faults that only the
 * embedded stores' files can have.
 */
const API = 'test/api/'
const EMBEDDED = 'test/api/embedded/'
const SERVERS = 'esdb+mongodb'

export type TierSelection = {
  /** The engines of all files, if the caller names them. */
  readonly engines: string | undefined
  /** Whether the whole tier runs, not selected files. */
  readonly isWhole: boolean
}

/** The groups that a tier runs, of these files. */
export function groupsOf(tier: Tier, files: readonly string[], { engines, isWhole }: TierSelection): readonly Group[] {
  const own = files.filter((file) => tierOf(file) === tier)
  const onServers = (all: readonly string[]) => all.filter((file) => !file.startsWith(EMBEDDED))
  if (engines !== undefined) return [{ engines, files: engines === 'sqlite+sqlite' ? own : onServers(own) }]
  if (tier !== 'engines' || !isWhole) return [{ files: own }]
  const api = files.filter((file) => file.startsWith(API) && tierOf(file) === 'quick')
  return [{ files: own }, { engines: SERVERS, files: onServers(api) }]
}
