import { Registry } from 'prom-client'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CommandOutcomes } from '../../../src/commands/core/command-outcomes.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import {
  EventsRemoved,
  LogClosed,
  OutcomeUnknown,
  StoreUnavailable,
  WrongRevision,
} from '../../../src/stores/ports/event-store.ts'
import { readExposition, type Exposition } from '../../monitoring/exposition.ts'

const test = suite('command outcomes')

function openOutcomes() {
  const registry = new Registry()
  return { outcomes: new CommandOutcomes(registry), read: async () => readExposition(await registry.metrics()) }
}

const nonZeroSamples = ({ samples }: Exposition, metric: string) =>
  samples.filter(({ name, value }) => name === metric && value > 0).map(({ labels, value }) => ({ ...labels, value }))

const endings: readonly (readonly [outcome: string, error: unknown])[] = [
  ['refused', new RequestError('missing', 'There is none')],
  ['refused', new EventsRemoved('diamond-7')],
  ['conflict', new WrongRevision('diamond-7', 3n, 4n)],
  ['unknown', new OutcomeUnknown('no answer')],
  ['unavailable', new StoreUnavailable('away')],
  ['unavailable', new LogClosed({ why: 'fenced', copy: 'c', to: 'elsewhere' })],
  ['failed', new TypeError('a fault of ours')],
]

for (const [outcome, error] of endings) {
  test(`count ${outcome} when the command fails with ${(error as Error).name}, and the caller gets the error`, async () => {
    const { outcomes, read } = openOutcomes()
    const failed = outcomes.track('diamond-7', () => Promise.reject(error))
    assert.is(await failed.catch((thrown: unknown) => thrown), error)
    assert.equal(nonZeroSamples(await read(), 'adamant_commands_total'), [{ subject: 'diamond', outcome, value: 1 }])
  })
}

test('are labelled with the category of the stream, not with its name', async () => {
  const { outcomes, read } = openOutcomes()
  for (const stream of ['diamond-1', 'diamond-2', 'account-1', 'restores']) await outcomes.track(stream, async () => 1)
  outcomes.countRetry('diamond-9', new WrongRevision('diamond-9', 3n, 4n))
  outcomes.countRetry('diamond-8', new OutcomeUnknown('no answer'))
  const metrics = await read()
  assert.equal(nonZeroSamples(metrics, 'adamant_commands_total'), [
    { subject: 'diamond', outcome: 'done', value: 2 },
    { subject: 'account', outcome: 'done', value: 1 },
    { subject: 'restores', outcome: 'done', value: 1 },
  ])
  assert.equal(nonZeroSamples(metrics, 'adamant_command_retries_total'), [
    { subject: 'diamond', reason: 'conflict', value: 1 },
    { subject: 'diamond', reason: 'unknown', value: 1 },
  ])
})

test('start at 0 for every category', async () => {
  const { samples } = await openOutcomes().read()
  const isAtZero = (metric: string, category: string, kind: string) =>
    samples.some(
      ({ name, labels: { subject, outcome, reason }, value }) =>
        name === metric && subject === category && (outcome ?? reason) === kind && value === 0,
    )
  for (const subject of ['diamond', 'account', 'secret', 'webhooks'])
    for (const outcome of ['done', 'refused', 'conflict', 'unknown', 'unavailable', 'failed'])
      assert.ok(isAtZero('adamant_commands_total', subject, outcome), `${subject} ${outcome}`)
  assert.ok(isAtZero('adamant_command_retries_total', 'diamond', 'conflict'))
})

test.run()
