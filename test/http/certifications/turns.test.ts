import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Turns } from '../../../src/http/certifications/turns.ts'

const test = suite('turns')

test('are had by so many at a time, first come, first served, and ended once', async () => {
  const turns = new Turns(2)
  const had: number[] = []
  const ends: (() => void)[] = []
  const all = Array.from({ length: 5 }, async (_, one) => {
    ends[one] = await turns.take()
    had.push(one)
  })
  await Promise.all(all.slice(0, 2))
  assert.equal(had, [0, 1])
  ends[0]?.()
  ends[0]?.()
  await all[2]
  await new Promise((done) => setImmediate(done))
  assert.equal(had, [0, 1, 2])
  for (const one of [1, 2]) ends[one]?.()
  await Promise.all(all)
  assert.equal(had, [0, 1, 2, 3, 4])
})

test.run()
