import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  readOnlyStateOf,
  isIntentionallyReadOnly,
  isAppendAllowed,
  describeReadOnlyState,
  type ReadOnlyState,
} from '../../../src/domain/installation/read-only-state.ts'

const event = (type: string, data: Readonly<Record<string, unknown>> = {}) => ({ type, data })

const BEGUN = event('CopyBegun', { copy: 'c1', from: 'here', log: 'l1' })
const REPLAY = event('CopyBegun', { copy: 'c2', from: 'here', log: 'l1', replay: true })
const FENCED = event('LogFenced', { copy: 'c1', to: 'there' })
const OPENED = event('LogOpened', { copy: 'c1' })

const lifecycle = suite('a log')

const cases: readonly (readonly [
  name: string,
  log: typeof FENCED | undefined,
  copy: readonly (typeof FENCED)[],
  expected: ReadOnlyState | undefined,
])[] = [
  ['that was never moved is open', undefined, [], undefined],
  ['with only a LogCreated event is open', event('LogCreated', { identity: 'l1' }), [], undefined],
  ['that was moved elsewhere is fenced', FENCED, [], { why: 'fenced', copy: 'c1', to: 'there' }],
  ['that was opened again is open', OPENED, [], undefined],
  [
    'that is the target of a running copy is unfinished',
    undefined,
    [BEGUN],
    { why: 'unfinished', copy: 'c1', from: 'here' },
  ],
  [
    'that is the target of a finished copy is open',
    OPENED,
    [BEGUN, event('CopyDone', { copy: 'c1', events: 3 })],
    undefined,
  ],
  [
    'that is the target of a finished copy and was moved elsewhere is fenced',
    FENCED,
    [BEGUN, event('CopyDone', { copy: 'c1', events: 3 })],
    { why: 'fenced', copy: 'c1', to: 'there' },
  ],
  [
    'that is the target of an abandoned copy is abandoned',
    FENCED,
    [BEGUN, event('CopyAbandoned', { copy: 'c1' })],
    { why: 'abandoned', copy: 'c1', from: 'here' },
  ],
  [
    'that is an unfinished replay is half-replayed',
    undefined,
    [REPLAY],
    { why: 'half-replayed', copy: 'c2', from: 'here' },
  ],
  [
    'that is a finished replay is a replay',
    undefined,
    [REPLAY, event('ReplayMade', { copy: 'c2', until: 'May', events: 3 })],
    { why: 'replay', copy: 'c2', from: 'here', until: 'May' },
  ],
  [
    'with invalid event data has empty members',
    event('LogFenced', { copy: 7 }),
    [],
    { why: 'fenced', copy: '', to: '' },
  ],
]
for (const [name, log, copy, expected] of cases)
  lifecycle(name, () => assert.equal(readOnlyStateOf(log, copy), expected))

lifecycle.run()

const all = {
  readOnly: { why: 'read-only' },
  replay: { why: 'replay', copy: 'c', from: 'here', until: 'May' },
  fenced: { why: 'fenced', copy: 'c', to: 'there' },
  unfinished: { why: 'unfinished', copy: 'c', from: 'here' },
  halfReplayed: { why: 'half-replayed', copy: 'c', from: 'here' },
  abandoned: { why: 'abandoned', copy: 'c', from: 'here' },
} as const satisfies Record<string, ReadOnlyState>

const readOnly = suite('a read-only log')

for (const [name, acceptsOwnEvents] of [
  ['readOnly', false],
  ['replay', false],
  ['fenced', true],
  ['unfinished', true],
  ['halfReplayed', true],
  ['abandoned', true],
] as const) {
  readOnly(`that is ${all[name].why} ${acceptsOwnEvents ? 'accepts' : 'rejects'} lifecycle events`, () => {
    assert.is(isAppendAllowed(all[name], 'log', ['LogOpened']), acceptsOwnEvents)
    assert.is(isIntentionallyReadOnly(all[name].why), !acceptsOwnEvents)
  })
  readOnly(`that is ${all[name].why} rejects changes of diamonds`, () => {
    assert.is(isAppendAllowed(all[name], 'diamond-1', ['DiamondPatched']), false)
  })
  readOnly(`that is ${all[name].why} accepts mail outcomes only if it is fenced`, () => {
    const isFenced = name === 'fenced'
    assert.is(isAppendAllowed(all[name], 'secret-1', ['MailSent']), isFenced)
    assert.is(isAppendAllowed(all[name], 'secret-1', ['MailRefused', 'MailSent']), isFenced)
    assert.is(isAppendAllowed(all[name], 'secret-1', ['MailSent', 'SecretShared']), false)
  })
}

for (const [name, message] of [
  ['readOnly', 'This service was started with `serve --read-only`: it accepts no writes'],
  ['replay', 'This is a replay of here until May: it serves the state of that time and accepts no writes'],
  ['fenced', 'This installation was moved to there: it serves reads only; send writes to the new installation'],
  [
    'unfinished',
    'This installation is an incomplete copy of here: run the same `adamant move` command again to resume',
  ],
  [
    'halfReplayed',
    'This replay of here was interrupted before it was complete: delete the folder and run `adamant replay` again',
  ],
  [
    'abandoned',
    'This installation is an incomplete copy of here, and the move was abandoned: delete this installation',
  ],
] as const) {
  readOnly(`that is ${all[name].why} describes its state`, () => assert.is(describeReadOnlyState(all[name]), message))
}

readOnly.run()
