import { suite } from 'uvu'
import { event } from '../../contract/event-store/given.ts'
import { resultOf, MoveFixture } from '../../cli/move/moving.ts'
import { fillStores, assertMoved, withInstallationOf } from './copies.ts'

const test = suite<{ fixture: MoveFixture }>('an event that is appended to a fenced log')
test.before.each(async (given) => {
  given.fixture = await MoveFixture.open()
})
test.after.each(({ fixture }) => fixture.close())

test('while the vault is copied is copied and verified too', async ({ fixture }) => {
  const [from, to] = [fixture.sqlite('a'), fixture.sqlite('b')]
  await fillStores(from, 10)
  const copy = fixture.startSignalledMove(from, to, 'target.vault.restore/1', 'SIGSTOP')
  await copy.stopped()
  // MailSent is accepted, because the mail was sent before the fence.
  await withInstallationOf(from, ({ store }) =>
    store.append('secret-late', 'none', [{ ...event(1), type: 'MailSent' }]),
  )
  copy.kill('SIGCONT')
  resultOf(await copy.ended)
  await assertMoved(from, to)
})

test.run()
