import { constants } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PasswordHasher } from '../../src/credentials/password-hasher.ts'
import { RequestError } from '../../src/domain/decider.ts'
import { niceOfThreadsAddedBy } from '../threads.ts'

// Runs alone: it counts the threads of its process.

const test = suite('checking passwords')

test('of one address leaves room for others, and goes on with theirs in between', async () => {
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
  // Half of the 64 places are the crowd's, and the first of it is checked already when the other one comes.
  assert.equal(outcomes, [...Array.from({ length: 28 }, () => 'too-many'), 'crowd', 'one'])
  await passwords.close()
  await Promise.all(crowd)
})

test('happens on a thread that gives way', async () => {
  if (process.platform !== 'linux') return console.log('LEFT OUT: threads have priorities of their own on Linux only')
  const passwords = new PasswordHasher()
  const added = await niceOfThreadsAddedBy(() => passwords.matches('wrong', undefined, '192.0.2.1'))
  await passwords.close()
  assert.is(added.filter((nice) => nice === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
})

test.run()
