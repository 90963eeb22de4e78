import { suite, type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { resultOf, Sites, type Site } from '../../cli/move/moving.ts'
import { isMoved, withOpened } from './copies.ts'

/** Calls of the copy's steps in their order, behind each of which it is killed once. */
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

/** Kills the same copy behind each of these calls in turn, lets it come to its end, and holds that all of it is there once. */
export async function isMovedInTheEnd(sites: Sites, from: Site, to: Site, calls: readonly string[]): Promise<void> {
  for (const call of calls) await diesBehind(sites, from, to, call)
  resultOf(await sites.copy(from, to))
  await isMoved(from, to)
}

/** The target takes no writes then, whatever it has. */
async function diesBehind(sites: Sites, from: Site, to: Site, call: string): Promise<void> {
  const { code, err, out } = await sites.signalled(from, to, call).ended
  assert.is(code, null, `it did not die at ${call}: ${out} ${err}`)
  const why = await withOpened(to, async ({ store }) => (await store.closedReason())?.why)
  assert.ok(why === 'unfinished' || why === 'fenced', `the target is ${String(why)} behind ${call}`)
}
