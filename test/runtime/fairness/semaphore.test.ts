import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Semaphore } from '../../../src/runtime/fairness/semaphores.ts'

const test = suite('the permits of a semaphore')

const settled = () => new Promise((done) => setImmediate(done))

/** `acquired` lists the names that acquired a permit, in order; `end` ends the oldest action. */
function observedSemaphore(permits: number) {
  const semaphore = new Semaphore(permits)
  const acquired: string[] = []
  const releases: (() => void)[] = []
  const request = (name: string) =>
    semaphore.run(async () => {
      acquired.push(name)
      await new Promise<void>((done) => releases.push(done))
      return name
    })
  return { semaphore, acquired, request, end: () => releases.shift()?.() }
}

test('are held by the given number of callers at a time, in order of arrival', async () => {
  const { acquired, request, end } = observedSemaphore(2)
  const all = ['a', 'b', 'c', 'd', 'e'].map(request)
  await settled()
  assert.equal(acquired, ['a', 'b'])
  for (const order of ['abc', 'abcd', 'abcde']) {
    end()
    await settled()
    assert.is(acquired.join(''), order)
  }
  end()
  end()
  assert.equal(await Promise.all(all), ['a', 'b', 'c', 'd', 'e'])
})

test('are released by an action that fails', async () => {
  const { semaphore, acquired, request, end } = observedSemaphore(1)
  const failing = semaphore.run(() => Promise.reject(new Error('no')))
  const next = request('next')
  await failing.then(assert.unreachable, (error: Error) => assert.is(error.message, 'no'))
  await settled()
  assert.equal(acquired, ['next'])
  end()
  assert.is(await next, 'next')
})

test('can be refused to all waiting callers, which does not affect later ones', async () => {
  const { semaphore, acquired, request, end } = observedSemaphore(1)
  const first = request('first')
  const waiting = [request('second'), request('third')]
  semaphore.rejectWaiting(new Error('no response'))
  for (const one of await Promise.allSettled(waiting)) {
    assert.is(one.status === 'rejected' && (one.reason as Error).message, 'no response')
  }
  const later = request('later')
  end()
  await settled()
  end()
  assert.equal([await first, await later, acquired], ['first', 'later', ['first', 'later']])
})

test.run()
