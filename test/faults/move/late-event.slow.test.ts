import { suite } from 'uvu'
import { event } from '../../contract/event-store/given.ts'
import { resultOf, Sites } from '../../cli/move/moving.ts'
import { fillSite, assertMoved, withOpened } from './copies.ts'

const test = suite<{ sites: Sites }>('an event that is appended to a fenced log')
test.before.each(async (given) => {
  given.sites = await Sites.open()
})
test.after.each(({ sites }) => sites.close())

test('while the vault is copied is copied and verified too', async ({ sites }) => {
  const [from, to] = [sites.sqlite('a'), sites.sqlite('b')]
  await fillSite(from, 10)
  const copy = sites.signalled(from, to, 'target.vault.restore/1', 'SIGSTOP')
  await copy.stopped()
  // MailSent is accepted, because the mail was sent before the fence.
  await withOpened(from, ({ store }) => store.append('secret-late', 'none', [{ ...event(1), type: 'MailSent' }]))
  copy.kill('SIGCONT')
  resultOf(await copy.ended)
  await assertMoved(from, to)
})

test.run()
