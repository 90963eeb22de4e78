import * as assert from 'uvu/assert'
import { LOG_STREAM } from '../../../src/domain/installation/read-only-state.ts'
import { LogClosed, type EventStore } from '../../../src/stores/ports/event-store.ts'
import { event, ids, newStream, rejectedWith, type Rules } from './given.ts'

/** Fences the log, runs `check`, and opens the log again, because other rules append to it too. */
async function whileFenced(store: EventStore, check: () => Promise<void>): Promise<void> {
  // A new log gets its LogCreated event with the first append.
  await store.append(newStream(), 'none', [event()])
  await appendToLogStream(store, 'LogFenced', { copy: 'c-1', to: 'elsewhere' })
  try {
    await check()
  } finally {
    await appendToLogStream(store, 'LogOpened', { copy: 'c-1' })
  }
}

async function appendToLogStream(
  store: EventStore,
  type: string,
  data: Readonly<Record<string, string>>,
): Promise<void> {
  const [last] = await store.readStream(LOG_STREAM, { last: 1 })
  await store.append(LOG_STREAM, last?.revision ?? 'none', [{ ...event(), type, data }])
}

export const fencingRules: Rules = (test) => {
  test('rejects appends with the reason while it is fenced, and still serves reads', async ({ store }) => {
    const stream = newStream()
    const first = event()
    await store.append(stream, 'none', [first])
    await whileFenced(store, async () => {
      assert.equal(await store.closedReason(), { why: 'fenced', copy: 'c-1', to: 'elsewhere' })
      const refused = await rejectedWith(LogClosed, store.append(stream, 0n, [event()]))
      assert.match(refused.message, /moved to elsewhere/)
      await rejectedWith(LogClosed, store.appendMany([{ stream, expected: 0n, events: [event()] }]))
      assert.equal(ids(await store.readStream(stream)), [first.id])
    })
    assert.is(await store.closedReason(), undefined)
    await store.append(stream, 0n, [event()])
  })

  test('accepts MailSent events while it is fenced, for mails that were already being sent', async ({ store }) => {
    const stream = newStream('secret')
    await whileFenced(store, async () => {
      await store.append(stream, 'none', [{ ...event(), type: 'MailSent' }])
      await rejectedWith(LogClosed, store.append(stream, 0n, [{ ...event(), type: 'SecretBurned' }]))
      const both = [{ ...event(), type: 'MailSent' }, event()]
      await rejectedWith(LogClosed, store.append(stream, 0n, both))
    })
  })
}
