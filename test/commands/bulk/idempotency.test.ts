import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { handleIdempotent, type IdempotentAction } from '../../../src/commands/bulk/handle-idempotent.ts'
import { type CommandContext, createCommandContext } from '../../../src/commands/core/handle.ts'
import { RequestError } from '../../../src/domain/decider.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { temporaryLog } from '../../stores/temporary-log.ts'

const test = suite('one thing done once for a key, by two processes')

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

/** A process with a queue of its own. */
const processOn = (store: EventStore): CommandContext => createCommandContext(store, () => 1_800_000_000_000)

/** What is made is the wish's name, and what was done is kept in the order in which it was. */
function doing(done: string[], meanwhile: () => Promise<unknown> = async () => undefined): IdempotentAction<string> {
  return {
    diamond: 7,
    origin,
    async execute(wish) {
      await meanwhile()
      done.push(`made ${wish}`)
      return wish
    },
    async replay(wish) {
      done.push(`again ${wish}`)
      return wish
    },
    async compensate(wish) {
      done.push(`took back ${wish}`)
    },
  }
}

test('is made under one name by both where they ask for the same', () =>
  withLog(async (store) => {
    const done: string[] = []
    const first = () => handleIdempotent(processOn(store), request('a'), doing(done))
    const wish = await handleIdempotent(processOn(store), request('a'), doing(done, first))
    assert.equal(done, [`made ${wish}`, `made ${wish}`, `again ${wish}`])
  }))

test('is taken back by the second where it asks for something else, and refused', () =>
  withLog(async (store) => {
    const done: string[] = []
    const first = () => handleIdempotent(processOn(store), request('a'), doing(done))
    const second = await handleIdempotent(processOn(store), request('b'), doing(done, first)).catch(
      (error: unknown) => error,
    )
    assert.ok(second instanceof RequestError && second.kind === 'invalid')
    const [, own = ''] = done
    assert.equal([done.length, done[2]], [3, own.replace('made', 'took back')])
  }))

test.run()
