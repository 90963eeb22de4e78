import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Semaphore } from '../../../src/runtime/fairness/semaphores.ts'

const test = suite('the permits of a semaphore')

const settled = () => new Promise((done) => setImmediate(done))

/** `had` lists the names that acquired a permit, in order; `end` ends the oldest action. */
function watched(permits: number) {
  const semaphore = new Semaphore(permits)
  const had: string[] = []
  const ends: (() => void)[] = []
  const ask = (name: string) =>
    semaphore.run(async () => {
      had.push(name)
      await new Promise<void>((done) => ends.push(done))
      return name
    })
  return { semaphore, had, ask, end: () => ends.shift()?.() }
}

test('are held by the given number of callers at a time, in order of arrival', async () => {
  const { had, ask, end } = watched(2)
  const all = ['a', 'b', 'c', 'd', 'e'].map(ask)
  await settled()
  assert.equal(had, ['a', 'b'])
  for (const so of ['abc', 'abcd', 'abcde']) {
    end()
    await settled()
    assert.is(had.join(''), so)
  }
  end()
  end()
  assert.equal(await Promise.all(all), ['a', 'b', 'c', 'd', 'e'])
})

test('are released by an action that fails', async () => {
  const { semaphore, had, ask, end } = watched(1)
  const failing = semaphore.run(() => Promise.reject(new Error('no')))
  const next = ask('next')
  await failing.then(assert.unreachable, (error: Error) => assert.is(error.message, 'no'))
  await settled()
  assert.equal(had, ['next'])
  end()
  assert.is(await next, 'next')
})

test('can be refused to all waiting callers, which does not affect later ones', async () => {
  const { semaphore, had, ask, end } = watched(1)
  const first = ask('first')
  const waiting = [ask('second'), ask('third')]
  semaphore.rejectWaiting(new Error('no response'))
  for (const one of await Promise.allSettled(waiting)) {
    assert.is(one.status === 'rejected' && (one.reason as Error).message, 'no response')
  }
  const later = ask('later')
  end()
  await settled()
  end()
  assert.equal([await first, await later, had], ['first', 'later', ['first', 'later']])
})

test.run()
