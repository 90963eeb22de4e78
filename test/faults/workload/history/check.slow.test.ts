import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RULES, violationsOf } from './check.ts'
import type { Operation, Outcome, SeenStone } from './operation.ts'

const test = suite('a history')

/** An operation of one client. Each takes 8 ms and begins 10 ms after the previous one. */
type Step = (at: { client: number; startedAt: number; endedAt: number; outcome: Outcome }) => Operation

const A: SeenStone = { sku: 'A', id: 1, price: 10 }
const create =
  (shown: SeenStone[] = [A], wanted: readonly { sku: string; price: number }[] = shown): Step =>
  (at) => ({
    ...at,
    kind: 'create',
    wanted,
    shown,
  })
const change =
  (price: number, revision?: number): Step =>
  (at) => ({
    ...at,
    kind: 'change',
    sku: 'A',
    price,
    ...(revision !== undefined && { revision }),
  })
const remove: Step = (at) => ({ ...at, kind: 'delete', sku: 'A' })
const read =
  (shown?: SeenStone): Step =>
  (at) => ({ ...at, kind: 'read', sku: 'A', ...(shown && { shown }) })
const list =
  (shown: SeenStone[], total = shown.length): Step =>
  (at) => ({ ...at, kind: 'list', shown, total })
const search =
  (shown: SeenStone[]): Step =>
  (at) => ({ ...at, kind: 'list', sku: 'A', shown, total: shown.length })
const share: Step = (at) => ({ ...at, kind: 'share', secret: 's' })
const reveal =
  (value?: string): Step =>
  (at) => ({ ...at, kind: 'reveal', secret: 's', ...(value !== undefined && { value }) })
const burn: Step = (at) => ({ ...at, kind: 'burn', secret: 's' })
const use: Step = (at) => ({ ...at, kind: 'use', token: 't' })
const refresh: Step = (at) => ({ ...at, kind: 'refresh', token: 't' })
const end: Step = (at) => ({ ...at, kind: 'end', tokens: ['t'] })

const withOutcome =
  (outcome: Outcome, step: Step): Step =>
  (at) =>
    step({ ...at, outcome })
/** Sent by another client during the previous operation. */
const concurrently =
  (step: Step): Step =>
  (at) =>
    step({ ...at, client: 2, startedAt: at.startedAt - 9, endedAt: at.endedAt - 9 })

const historyOf = (steps: readonly Step[]): Operation[] =>
  steps.map((step, index) =>
    step({ client: 1, startedAt: (index + 1) * 10, endedAt: (index + 1) * 10 + 8, outcome: 'done' }),
  )

const rulesBroken = (steps: readonly Step[], grace = 0): string[] => [
  ...new Set(violationsOf({ operations: historyOf(steps), grace }).map(({ rule }) => rule)),
]

const ONCE = 'acknowledged writes exist exactly once'
const SEEN = 'reads return acknowledged writes'
const GROW = 'revisions increase'
const AGREE = 'lists agree with single reads'
const READER = 'a secret has one reader'
const TOKEN = 'tokens are valid until they end'

const at = (revision: number, price: number): SeenStone => ({ ...A, revision, price })
const otherStone: SeenStone = { sku: 'B', id: 2, price: 20 }

const CORRECT: Readonly<Record<string, readonly Step[]>> = {
  'is empty': [],
  'has a stone that was created, changed, listed and deleted': [
    create(),
    change(11, 1),
    read(at(1, 11)),
    list([{ ...A, price: 11 }]),
    remove,
    withOutcome('missing', read()),
    list([]),
  ],
  'has a create without a response that was not executed': [withOutcome('unknown', create([], [A])), list([])],
  'has a create without a response that was executed': [
    withOutcome('unknown', create([], [A])),
    list([A]),
    read(at(0, 10)),
  ],
  'has a change without a response that was executed, so that the next revision follows it': [
    create(),
    withOutcome('unknown', change(11)),
    change(12, 2),
    read(at(2, 12)),
  ],
  'has a deletion without a response': [create(), withOutcome('unknown', remove), withOutcome('missing', read())],
  'has a read of the old value during a change': [create(), change(11, 1), concurrently(read(at(0, 10)))],
  'has a secret that was read': [share, reveal('s'), withOutcome('missing', reveal())],
  'has a secret whose reader lost the response': [
    share,
    withOutcome('unknown', reveal()),
    withOutcome('missing', reveal()),
  ],
  'has a secret that was burned': [share, burn, withOutcome('missing', reveal())],
  'has a token that was revoked': [use, end, withOutcome('missing', use)],
  'has a refresh token that was accepted and then rejected': [refresh, withOutcome('missing', refresh)],
}

for (const [name, steps] of Object.entries(CORRECT)) {
  test(`has no violations if it ${name}`, () =>
    assert.equal(violationsOf({ operations: historyOf(steps), grace: 0 }), []))
}

const INCORRECT: readonly (readonly [name: string, rule: string, steps: readonly Step[]])[] = [
  ['lacks an acknowledged stone', ONCE, [create(), list([])]],
  ['lists a stone twice', ONCE, [withOutcome('unknown', create([], [A])), list([A, { ...A, id: 2 }])]],
  ['has two stones with one id', ONCE, [create(), create([{ ...otherStone, id: 1 }])]],
  ['lists a stone that no client created', ONCE, [create(), list([A, otherStone])]],
  ['lists a stone whose create was rejected', ONCE, [withOutcome('refused', create([], [A])), list([A])]],
  ['has a total that differs from the listed stones', ONCE, [create(), list([A], 2)]],
  ['lists half of a bulk', ONCE, [withOutcome('unknown', create([], [A, otherStone])), list([A])]],
  ['does not find a created stone', SEEN, [create(), withOutcome('missing', read())]],
  ['does not find a created stone by its sku', SEEN, [create(), search([])]],
  ['does not find a created stone for a change', SEEN, [create(), withOutcome('missing', change(11))]],
  ['reads the old value after a change', SEEN, [create(), change(11, 1), read(at(0, 10))]],
  ['lists the old value after a change', SEEN, [create(), change(11, 1), search([A])]],
  ['reads a deleted stone', SEEN, [create(), remove, read(at(0, 10))]],
  ['deletes a stone twice', SEEN, [create(), remove, remove]],
  ['has two changes with one revision', GROW, [create(), change(11, 1), concurrently(change(12, 1))]],
  ['has a decreasing revision', GROW, [create(), change(11, 2), change(12, 1)]],
  ['reads two values at one revision', GROW, [create(), change(11, 1), read(at(1, 10))]],
  [
    'reads one value at two revisions',
    GROW,
    [create(), withOutcome('unknown', change(11)), read(at(1, 11)), read(at(2, 11))],
  ],
  ['reads a value that no client wrote', GROW, [create(), read(at(1, 99))]],
  ['reads a value whose change was rejected', GROW, [create(), withOutcome('refused', change(11)), read(at(1, 11))]],
  ['has a list that differs from a single read', AGREE, [create(), change(11, 1), list([A]), read(at(1, 11))]],
  ['reads a stone that is not listed', AGREE, [create(), list([]), read(at(0, 10))]],
  ['has two lists that differ', AGREE, [create(), list([A]), list([])]],
  ['reveals a secret twice', READER, [share, reveal('s'), reveal('s')]],
  ['reveals a burned secret', READER, [share, burn, reveal('s')]],
  ['reveals another secret', READER, [share, reveal('x')]],
  ['does not find an unread secret', READER, [share, withOutcome('missing', reveal())]],
  ['accepts a token after its end', TOKEN, [use, end, use]],
  ['accepts a refresh token twice', TOKEN, [refresh, refresh]],
  ['rejects a token before its end', TOKEN, [withOutcome('missing', use), end]],
]

for (const [name, rule, steps] of INCORRECT) {
  test(`has a violation if it ${name}`, () => {
    const found = rulesBroken(steps)
    assert.ok(found.includes(rule), `found ${found.join(', ') || 'nothing'}`)
  })
}

test('can violate every rule', () => {
  assert.equal([...new Set(INCORRECT.map(([, rule]) => rule))].toSorted(), Object.keys(RULES).toSorted())
})

test('may accept a token after its end during the grace period of a log on a server', () => {
  assert.equal(rulesBroken([use, end, use], 1_000), [])
  assert.equal(rulesBroken([use, end, use], 1), [TOKEN])
})

test.run()
