import { suite, type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { resultOf, Sites, type Site } from '../../cli/move/moving.ts'
import { assertMoved, withOpened } from './copies.ts'

/** Calls of the stores in the order of the copy's steps; the copy is killed once after each. */
export const FILES = ['target.files.incoming.write/2', 'target.files.incoming.keep/2']
export const FENCE = ['source.store.append/1']
export const MAILS = ['source.vault.claimMail/2']
export const VAULT = ['target.vault.restore/1']
export const ENDS = ['target.store.identity/1', 'target.store.append/1']

export type Given = { sites: Sites }

export function killedCopies(name: string): Test<Given> {
  const test = suite<Given>(name)
  test.before.each(async (given) => {
    given.sites = await Sites.open()
  })
  test.after.each(({ sites }) => sites.close())
  return test
}

/** Kills the copy after each of these calls in turn, then lets it complete and asserts that all data was copied once. */
export async function assertMovedAfterKills(
  sites: Sites,
  from: Site,
  to: Site,
  calls: readonly string[],
): Promise<void> {
  for (const call of calls) await killAfter(sites, from, to, call)
  resultOf(await sites.copy(from, to))
  await assertMoved(from, to)
}

/** Kills the copy after a call and asserts that the target rejects writes. */
async function killAfter(sites: Sites, from: Site, to: Site, call: string): Promise<void> {
  const { code, err, out } = await sites.signalled(from, to, call).ended
  assert.is(code, null, `it was not killed after ${call}: ${out} ${err}`)
  const why = await withOpened(to, async ({ store }) => (await store.closedReason())?.why)
  assert.ok(why === 'unfinished' || why === 'fenced', `the target is ${String(why)} after ${call}`)
}
