/**
 * What a test file needs, which its name says: `*.test.ts` nothing but this process, `*.slow.test.ts` processes that are
 * killed, browsers or the whole command line, `*.engines.test.ts` a server of EventStoreDB's or MongoDB's protocol.
 */
export const TIERS = ['quick', 'slow', 'engines'] as const

export type Tier = (typeof TIERS)[number]

const NAMED = /\.(slow|engines)\.test\.ts$/

export const tierOf = (file: string): Tier => {
  const [, tier] = NAMED.exec(file) ?? []
  return tier === 'slow' || tier === 'engines' ? tier : 'quick'
}

/** Files that run with the same engines under the service (test/engines.ts). */
export type Group = { readonly engines?: string; readonly files: readonly string[] }

/** What the tier of engines adds to its own files: the API's suites of the quick tier, on two servers. */
const API = 'test/api/'
const SERVERS = 'esdb+mongodb'

export type Wanted = {
  /** What all files run on, where somebody says so. */
  readonly engines: string | undefined
  /** The tier with all that belongs to it, not single files of it. */
  readonly isWhole: boolean
}

/** What a tier runs, of these files. */
export function groupsOf(tier: Tier, files: readonly string[], { engines, isWhole }: Wanted): readonly Group[] {
  const own = { ...(engines !== undefined && { engines }), files: files.filter((file) => tierOf(file) === tier) }
  if (tier !== 'engines' || engines !== undefined || !isWhole) return [own]
  return [own, { engines: SERVERS, files: files.filter((file) => file.startsWith(API) && tierOf(file) === 'quick') }]
}
