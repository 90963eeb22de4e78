import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  readOnlyStateOf,
  isIntentionallyReadOnly,
  isAppendAllowed,
  describeReadOnlyState,
  type ReadOnlyState,
} from '../../../src/domain/installation/log-lifecycle.ts'

const event = (type: string, data: Readonly<Record<string, unknown>> = {}) => ({ type, data })

const BEGUN = event('CopyBegun', { copy: 'c1', from: 'here', log: 'l1' })
const REPLAY = event('CopyBegun', { copy: 'c2', from: 'here', log: 'l1', replay: true })
const FENCED = event('LogFenced', { copy: 'c1', to: 'there' })
const OPENED = event('LogOpened', { copy: 'c1' })

const closed = suite('a log')

const ways: readonly (readonly [
  what: string,
  log: typeof FENCED | undefined,
  copy: readonly (typeof FENCED)[],
  by: ReadOnlyState | undefined,
])[] = [
  ['that was never moved is open', undefined, [], undefined],
  ['that has only begun is open', event('LogCreated', { identity: 'l1' }), [], undefined],
  ['that was left is fenced', FENCED, [], { why: 'fenced', copy: 'c1', to: 'there' }],
  ['that was opened again is open', OPENED, [], undefined],
  ['that is being filled is unfinished', undefined, [BEGUN], { why: 'unfinished', copy: 'c1', from: 'here' }],
  ['that was filled is open', OPENED, [BEGUN, event('CopyDone', { copy: 'c1', events: 3 })], undefined],
  [
    'that was filled, and left for another one, is fenced',
    FENCED,
    [BEGUN, event('CopyDone', { copy: 'c1', events: 3 })],
    { why: 'fenced', copy: 'c1', to: 'there' },
  ],
  [
    'of which the filling was given up is abandoned',
    FENCED,
    [BEGUN, event('CopyAbandoned', { copy: 'c1' })],
    { why: 'abandoned', copy: 'c1', from: 'here' },
  ],
  [
    'that was being filled to a past moment is half a replay',
    undefined,
    [REPLAY],
    { why: 'half-replayed', copy: 'c2', from: 'here' },
  ],
  [
    'that was filled to a past moment is a replay',
    undefined,
    [REPLAY, event('ReplayMade', { copy: 'c2', until: 'May', events: 3 })],
    { why: 'replay', copy: 'c2', from: 'here', until: 'May' },
  ],
  [
    'whose events are not what they should be says nothing of them',
    event('LogFenced', { copy: 7 }),
    [],
    { why: 'fenced', copy: '', to: '' },
  ],
]
for (const [what, log, copy, by] of ways) closed(what, () => assert.equal(readOnlyStateOf(log, copy), by))

closed.run()

const all = {
  readOnly: { why: 'read-only' },
  replay: { why: 'replay', copy: 'c', from: 'here', until: 'May' },
  fenced: { why: 'fenced', copy: 'c', to: 'there' },
  unfinished: { why: 'unfinished', copy: 'c', from: 'here' },
  halfReplayed: { why: 'half-replayed', copy: 'c', from: 'here' },
  abandoned: { why: 'abandoned', copy: 'c', from: 'here' },
} as const satisfies Record<string, ReadOnlyState>

const appended = suite('a closed log')

for (const [name, isOpenForItself] of [
  ['readOnly', false],
  ['replay', false],
  ['fenced', true],
  ['unfinished', true],
  ['halfReplayed', true],
  ['abandoned', true],
] as const) {
  appended(`that is ${all[name].why} ${isOpenForItself ? 'takes' : 'does not take'} what befalls itself`, () => {
    assert.is(isAppendAllowed(all[name], 'log', ['LogOpened']), isOpenForItself)
    assert.is(isIntentionallyReadOnly(all[name].why), !isOpenForItself)
  })
  appended(`that is ${all[name].why} takes no changes of stones`, () => {
    assert.is(isAppendAllowed(all[name], 'diamond-1', ['DiamondPatched']), false)
  })
  appended(`that is ${all[name].why} takes outcomes of mails only where it is fenced`, () => {
    const isFenced = name === 'fenced'
    assert.is(isAppendAllowed(all[name], 'secret-1', ['MailSent']), isFenced)
    assert.is(isAppendAllowed(all[name], 'secret-1', ['MailRefused', 'MailSent']), isFenced)
    assert.is(isAppendAllowed(all[name], 'secret-1', ['MailSent', 'SecretShared']), false)
  })
}

for (const [name, says] of [
  ['readOnly', 'This service was started with `serve --read-only`: it accepts no writes'],
  ['replay', 'This is a replay of here until May: it serves the state of that time and accepts no writes'],
  ['fenced', 'This installation was moved to there: it serves reads only; send writes to the new installation'],
  [
    'unfinished',
    'This installation is an incomplete copy of here: run the same `npx adamant move` command again to resume',
  ],
  [
    'halfReplayed',
    'This replay of here was interrupted before it was complete: delete the folder and run `npx adamant replay` again',
  ],
  [
    'abandoned',
    'This installation is an incomplete copy of here, and the move was abandoned: delete this installation',
  ],
] as const) {
  appended(`that is ${all[name].why} says what to do`, () => assert.is(describeReadOnlyState(all[name]), says))
}

appended.run()
