import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { all, event, newStream, rejectedWith, type Rules } from './given.ts'

export const closingRules: Rules = (test) => {
  test('is unavailable after it was closed', async ({ store }) => {
    await store.close()
    const uses: (() => unknown)[] = [
      () => store.append(newStream(), 'none', [event()]),
      () => store.appendMany([{ stream: newStream(), expected: 'none', events: [event()] }]),
      () => store.readStream('log'),
      () => store.eventAt({ commit: 1n, prepare: 1n }),
      () => all(store.readAll('start')),
      () => store.subscribe('start'),
      () => store.head(),
      () => store.identity(),
    ]
    for (const use of uses) await rejectedWith(StoreUnavailable, Promise.resolve().then(use))
  })

  test('completes the appends in progress when it is closed', async ({ store }) => {
    const appends = Array.from({ length: 50 }, () => store.append(newStream(), 'none', [event()]))
    await store.close()
    assert.is(new Set((await Promise.all(appends)).map(({ commit }) => commit)).size, 50)
  })

  test('can be closed twice', async ({ store }) => {
    await Promise.all([store.close(), store.close()])
  })
}
