import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PATIENCE, Patience } from '../../../src/projections/engine/patience.ts'

const test = suite("a request's patience")

test('is less by what was waited, and never less than nothing', async () => {
  const patience = new Patience()
  assert.is(patience.left, PATIENCE)
  assert.is(await patience.during((ms) => ms), PATIENCE)
  await patience.during(() => new Promise((done) => setTimeout(done, 50)))
  assert.ok(patience.left <= PATIENCE - 49)
  await patience.during(() => new Promise((done) => setTimeout(done, PATIENCE)))
  assert.is(patience.left, 0)
  assert.is(await patience.during((ms) => ms), 0)
})

test('is spent by what fails, too', async () => {
  const patience = new Patience()
  const fails = patience.during(async () => {
    await new Promise((done) => setTimeout(done, 50))
    throw new Error('away')
  })
  assert.instance(await fails.catch((error: unknown) => error), Error)
  assert.ok(patience.left <= PATIENCE - 49)
})

test.run()
