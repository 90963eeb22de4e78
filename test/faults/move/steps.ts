import { suite, type Test } from 'uvu'
import * as assert from 'uvu/assert'
import { resultOf, MoveFixture, type InstallationConfig } from '../../cli/move/moving.ts'
import { assertMoved, withInstallationOf } from './copies.ts'

/** Calls of the stores in the order of the copy's steps; the copy is killed once after each. */
export const FILES = ['target.files.incoming.write/2', 'target.files.incoming.keep/2']
export const FENCE = ['source.store.append/1']
export const MAILS = ['source.vault.claimMail/2']
export const VAULT = ['target.vault.restore/1']
export const ENDS = ['target.store.identity/1', 'target.store.append/1']

export type Given = { fixture: MoveFixture }

export function killedCopies(name: string): Test<Given> {
  const test = suite<Given>(name)
  test.before.each(async (given) => {
    given.fixture = await MoveFixture.open()
  })
  test.after.each(({ fixture }) => fixture.close())
  return test
}

/** Kills the copy after each of these calls in turn, then lets it complete and asserts that all data was copied once. */
export async function assertMovedAfterKills(
  fixture: MoveFixture,
  from: InstallationConfig,
  to: InstallationConfig,
  calls: readonly string[],
): Promise<void> {
  for (const call of calls) await killAfter(fixture, from, to, call)
  resultOf(await fixture.move(from, to))
  await assertMoved(from, to)
}

/** Kills the copy after a call and asserts that the target rejects writes. */
async function killAfter(
  fixture: MoveFixture,
  from: InstallationConfig,
  to: InstallationConfig,
  call: string,
): Promise<void> {
  const { code, err, out } = await fixture.startSignalledMove(from, to, call).ended
  assert.is(code, null, `it was not killed after ${call}: ${out} ${err}`)
  const why = await withInstallationOf(to, async ({ store }) => (await store.closedReason())?.why)
  assert.ok(why === 'unfinished' || why === 'fenced', `the target is ${String(why)} after ${call}`)
}
