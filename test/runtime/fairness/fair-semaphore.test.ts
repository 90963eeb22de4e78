import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { FairSemaphore } from '../../../src/runtime/fairness/semaphores.ts'

const test = suite('the permits of a fair semaphore')

/** `acquired` lists the names that acquired a permit, in order; `end` releases the oldest held permit. */
function observedSemaphore(count: number) {
  const semaphore = new FairSemaphore(count)
  const acquired: string[] = []
  const releases: (() => void)[] = []
  const settle = () => new Promise((done) => setImmediate(done))
  return {
    semaphore,
    acquired,
    request(name: string, first = false, names = [name]) {
      const beginning = async () => {
        releases.push(await semaphore.acquire({ names, isPriority: first }))
        acquired.push(name)
      }
      void beginning()
      return settle()
    },
    async end() {
      releases.shift()?.()
      await settle()
    },
  }
}

test('are held by the given number of callers at a time', async () => {
  const { semaphore, acquired, request, end } = observedSemaphore(2)
  for (const name of ['a', 'b', 'c', 'd']) await request(name)
  assert.equal(acquired, ['a', 'b'])
  assert.ok(semaphore.hasWaiters)
  await end()
  assert.equal(acquired, ['a', 'b', 'c'])
  await end()
  assert.not.ok(semaphore.hasWaiters)
})

test('are released once, even if the release is repeated', async () => {
  const semaphore = new FairSemaphore(1)
  const one = { names: ['a'], isPriority: false }
  const end = await semaphore.acquire(one)
  end()
  end()
  await semaphore.acquire(one)
  void semaphore.acquire(one)
  assert.ok(semaphore.hasWaiters)
})

test('go to the name that holds the fewest: eight requests of one do not delay the request of another', async () => {
  const { acquired, request, end } = observedSemaphore(2)
  for (let count = 0; count < 8; count++) await request('crowd')
  await request('one')
  await end()
  assert.equal(acquired, ['crowd', 'crowd', 'one'])
})

test('go round-robin to names that hold equally many', async () => {
  const { acquired, request, end } = observedSemaphore(1)
  for (let count = 0; count < 4; count++) await request('crowd')
  for (const name of ['one', 'two', 'one', 'two']) await request(name)
  for (let round = 0; round < 7; round++) await end()
  assert.equal(acquired, ['crowd', 'one', 'two', 'crowd', 'one', 'two', 'crowd', 'crowd'])
})

test('are counted per name, for an account at many addresses and for an address with many accounts', async () => {
  const { acquired, request, end } = observedSemaphore(1)
  await request('1', false, ['account 1', 'address a'])
  await request('2', false, ['account 1', 'address b'])
  await request('3', false, ['account 2', 'address a'])
  await request('4', false, ['account 2', 'address c'])
  await request('5', false, ['account 1', 'address a'])
  for (let round = 0; round < 4; round++) await end()
  assert.equal(acquired[1], '4')
  assert.equal(acquired[4], '5')
})

test('go to prioritised callers first, except for every fourth permit', async () => {
  const { acquired, request, end } = observedSemaphore(1)
  for (const name of ['s1', 's2', 's3']) await request(name)
  for (const name of ['r1', 'r2', 'r3', 'r4', 'r5']) await request(name, true)
  for (let round = 0; round < 7; round++) await end()
  assert.equal(acquired, ['s1', 'r1', 'r2', 'r3', 's2', 'r4', 'r5', 's3'])
})

test.run()
