import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handleIdempotent, type IdempotentAction } from '../../../src/commands/bulk/handle-idempotent.ts'
import { type CommandContext, createCommandContext } from '../../../src/commands/core/command-context.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'
import { fixedClock } from '../../fixed-clock.ts'

const test = suite('an idempotent action in two processes')

const origin = { actor: 'account-1', via: 'http', correlation: 'r' } as const
const request = (body: string) => ({ owner: 1, key: 'k', method: 'POST', path: '/v4/certification', body })

async function withLog(run: (store: EventStore) => Promise<void>): Promise<void> {
  const store = temporaryLog()
  try {
    await run(store)
  } finally {
    await store.close()
  }
}

/** A process: it has its own command queue. */
const processOn = (store: EventStore): CommandContext => createCommandContext(store, fixedClock)

/** An action that returns the idempotency id and records its steps in `done`. */
function recordedAction(
  done: string[],
  meanwhile: () => Promise<unknown> = async () => undefined,
): IdempotentAction<string> {
  return {
    diamond: 7,
    origin,
    async execute(id) {
      await meanwhile()
      done.push(`executed ${id}`)
      return id
    },
    async replay(id) {
      done.push(`replayed ${id}`)
      return id
    },
    async compensate(id) {
      done.push(`compensated ${id}`)
    },
  }
}

test('runs under one id in both when the requests are equal', () =>
  withLog(async (store) => {
    const done: string[] = []
    const first = () => handleIdempotent(processOn(store), request('a'), recordedAction(done))
    const id = await handleIdempotent(processOn(store), request('a'), recordedAction(done, first))
    assert.equal(done, [`executed ${id}`, `executed ${id}`, `replayed ${id}`])
  }))

test('is compensated and refused in the second when its request differs', () =>
  withLog(async (store) => {
    const done: string[] = []
    const first = () => handleIdempotent(processOn(store), request('a'), recordedAction(done))
    const second = await handleIdempotent(processOn(store), request('b'), recordedAction(done, first)).catch(
      (error: unknown) => error,
    )
    assert.ok(second instanceof RequestError && second.kind === 'invalid')
    const [, own = ''] = done
    assert.equal([done.length, done[2]], [3, own.replace('executed', 'compensated')])
  }))

test.run()
