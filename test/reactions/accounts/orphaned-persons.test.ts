import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { registerAccount } from '../../../src/commands/accounts/accounts.ts'
import { deleteOrphanedPersons } from '../../../src/reactions/accounts/orphaned-persons.ts'
import { ann, cli, openProcess, withLogFile } from '../../commands/accounts-on-disk.ts'
import { runOneRound } from '../../projections/engine/start-background-services.ts'

const test = suite('the sweeper of orphaned persons')
const HOUR = 60 * 60_000

test('removes the row of an interrupted registration after an hour, and no other', () =>
  withLogFile(async (file) => {
    const time = { now: 1_800_000_000_000 }
    const one = await openProcess(file, time)
    try {
      const { account } = await registerAccount(one, ann, cli)
      await one.people.storeEmail(99, 'died@example.com')
      const { store, persons } = one
      const sweep = (isClockSettled = () => true) =>
        runOneRound([deleteOrphanedPersons], { store, persons, context: one, isClockSettled })
      time.now += HOUR
      await sweep()
      assert.ok(await persons.readPerson(99))
      time.now += 1
      await sweep(() => false)
      assert.ok(await persons.readPerson(99), 'deleted by a clock that may be wrong')
      await sweep()
      assert.is(await persons.readPerson(99), undefined)
      assert.ok(await persons.readPerson(account))
      assert.equal(await persons.unconfirmed(Infinity, 10), [])
    } finally {
      await one.close()
    }
  }))

test.run()
