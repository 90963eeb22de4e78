import { constants } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PasswordHasher } from '../../src/credentials/password-hasher.ts'
import { RequestError } from '../../src/domain/request-error.ts'
import { niceOfThreadsAddedBy } from '../threads.ts'

// Runs alone: it counts the threads of its process.

const test = suite('password verification')

test('limits the queue of one address, and serves other addresses in between', async () => {
  const passwords = new PasswordHasher()
  const outcomes: string[] = []
  const tried = async (name: string, address: string) => {
    try {
      await passwords.matches('wrong', undefined, address)
      outcomes.push(name)
    } catch (error) {
      outcomes.push(error instanceof RequestError ? error.kind : 'closed')
    }
  }
  const crowd = Array.from({ length: 60 }, () => tried('crowd', '192.0.2.1'))
  await tried('one', '198.51.100.7')
  // The crowd gets half of the 64 places in the queue. Its first password is already being verified when the other one arrives.
  assert.equal(outcomes, [...Array.from({ length: 28 }, () => 'too-many'), 'crowd', 'one'])
  await passwords.close()
  await Promise.all(crowd)
})

test('runs on a low-priority thread', async () => {
  if (process.platform !== 'linux') return console.log('LEFT OUT: only Linux has a priority for each thread')
  const passwords = new PasswordHasher()
  const added = await niceOfThreadsAddedBy(() => passwords.matches('wrong', undefined, '192.0.2.1'))
  await passwords.close()
  assert.is(added.filter((nice) => nice === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
})

test.run()
