import { constants } from 'node:os'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Passwords } from '../../src/credentials/passwords.ts'
import { niceOfThreadsAddedBy } from '../threads.ts'

// Runs alone: it counts the threads of its process.

const test = suite('checking passwords')

test('of one address leaves room for others, and goes on with theirs in between', async () => {
  const passwords = new Passwords()
  const done: string[] = []
  const tried = async (name: string, address: string) => {
    await passwords.matches('wrong', undefined, address)
    done.push(name)
  }
  const crowd = Array.from({ length: 60 }, () => tried('crowd', '192.0.2.1').catch(() => 'refused'))
  await tried('one', '198.51.100.7')
  assert.ok(done.length <= 3, `${done.length} before`)
  await passwords.close()
  const refused = (await Promise.all(crowd)).filter((outcome) => outcome === 'refused')
  assert.ok(refused.length >= 28, `${refused.length} of 60 refused`)
})

test('happens on a thread that gives way', async () => {
  if (process.platform !== 'linux') return console.log('LEFT OUT: threads have priorities of their own on Linux only')
  const passwords = new Passwords()
  const added = await niceOfThreadsAddedBy(() => passwords.matches('wrong', undefined, '192.0.2.1'))
  await passwords.close()
  assert.is(added.filter((nice) => nice === constants.priority.PRIORITY_BELOW_NORMAL).length, 1)
})

test.run()
