import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Service } from '../../api/harness/service.ts'
import { expect } from '../../api/harness/request.ts'
import { created, shown, stone } from '../../api/harness/stones.ts'
import { resultOf, MoveFixture, type InstallationConfig } from '../../cli/move/moving.ts'
import type { RunningProgram } from '../../cli/command-line.ts'
import { withInstallationOf } from './copies.ts'

type Given = { fixture: MoveFixture; from: InstallationConfig; to: InstallationConfig; service: Service }
const test = suite<Given>('a copy that is abandoned while it runs')
test.before.each(async (given) => {
  given.fixture = await MoveFixture.open()
  given.from = given.fixture.sqlite('a')
  given.to = given.fixture.sqlite('b')
  given.service = await given.fixture.serve(given.from)
  await created(given.service.ann, { sku: 'BEFORE' })
})
test.after.each(async ({ service, fixture }) => {
  await service.stop()
  await fixture.close()
})

/** Starts a copy that is stopped after a call of its stores, until SIGCONT. */
async function stoppedAfter({ fixture, from, to }: Given, call: string): Promise<RunningProgram> {
  const copy = fixture.startSignalledMove(from, to, call, 'SIGSTOP')
  await copy.stopped()
  return copy
}

/** Asserts that the source, and only the source, accepts writes. */
async function assertOpenAtSource({ service, from, to }: Given, acknowledged: number): Promise<void> {
  await created(service.ann, { sku: 'AFTER' })
  assert.is(shown(expect(200, await service.ann.get(`/v4/diamond/${acknowledged}`))).sku, 'MEANWHILE')
  assert.is(await withInstallationOf(to, async ({ store }) => (await store.closedReason())?.why), 'abandoned')
  assert.is(await withInstallationOf(from, ({ store }) => store.closedReason()), undefined)
}

for (const [where, call] of [
  ['just before the fence', 'target.store.closedReason/1'],
  ['just after the fence', 'source.store.append/1'],
  ['just before its end', 'target.store.identity/1'],
] as const) {
  test(`(${where}) never completes, and its source accepts writes`, async (given) => {
    const { fixture, from, to, service } = given
    const copy = await stoppedAfter(given, call)
    resultOf(await fixture.move(from, to, '--give-up'))
    const { id } = await created(service.ann, { sku: 'MEANWHILE' })
    copy.kill('SIGCONT')
    const { code, err } = await copy.ended
    assert.is(code, 1, err)
    assert.match(err, /abandoned while it ran/)
    await assertOpenAtSource(given, id)
  })
}

test('after it is complete ends normally, and its source stays closed', async (given) => {
  const { fixture, from, to, service } = given
  const copy = await stoppedAfter(given, 'target.store.append/3')
  const late = await fixture.move(from, to, '--give-up')
  assert.is(late.code, 1)
  assert.match(late.err, /not an unfinished copy/)
  copy.kill('SIGCONT')
  resultOf(await copy.ended)
  expect(503, await service.ann.post('/v4/diamond', stone()))
  assert.is(await withInstallationOf(to, ({ store }) => store.closedReason()), undefined)
})

test.run()
