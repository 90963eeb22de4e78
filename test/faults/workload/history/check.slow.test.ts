import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { RULES, violationsOf } from './check.ts'
import type { Operation, Outcome, Sight } from './operation.ts'

const test = suite('a history of what clients were told')

/** Operations of one client, one after another: each takes 8 ms, and begins 10 ms after the one before. */
type Step = (at: { client: number; began: number; ended: number; outcome: Outcome }) => Operation

const A: Sight = { sku: 'A', id: 1, price: 10 }
const create =
  (shown: Sight[] = [A], wanted: readonly { sku: string; price: number }[] = shown): Step =>
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
  (shown?: Sight): Step =>
  (at) => ({ ...at, kind: 'read', sku: 'A', ...(shown && { shown }) })
const list =
  (shown: Sight[], total = shown.length): Step =>
  (at) => ({ ...at, kind: 'list', shown, total })
const search =
  (shown: Sight[]): Step =>
  (at) => ({ ...at, kind: 'list', sku: 'A', shown, total: shown.length })
const share: Step = (at) => ({ ...at, kind: 'share', secret: 's' })
const reveal =
  (value?: string): Step =>
  (at) => ({ ...at, kind: 'reveal', secret: 's', ...(value !== undefined && { value }) })
const burn: Step = (at) => ({ ...at, kind: 'burn', secret: 's' })
const use: Step = (at) => ({ ...at, kind: 'use', token: 't' })
const refresh: Step = (at) => ({ ...at, kind: 'refresh', token: 't' })
const end: Step = (at) => ({ ...at, kind: 'end', tokens: ['t'] })

const as =
  (outcome: Outcome, step: Step): Step =>
  (at) =>
    step({ ...at, outcome })
/** Asked while the operation before it was under way. */
const meanwhile =
  (step: Step): Step =>
  (at) =>
    step({ ...at, client: 2, began: at.began - 9, ended: at.ended - 9 })

const historyOf = (steps: readonly Step[]): Operation[] =>
  steps.map((step, index) => step({ client: 1, began: (index + 1) * 10, ended: (index + 1) * 10 + 8, outcome: 'done' }))

const rulesBroken = (steps: readonly Step[], grace = 0): string[] => [
  ...new Set(violationsOf({ operations: historyOf(steps), grace }).map(({ rule }) => rule)),
]

const ONCE = 'what was acknowledged is there once'
const SEEN = 'reads see what was written'
const GROW = 'revisions grow'
const AGREE = 'lists agree with single reads'
const READER = 'a secret has one reader'
const TOKEN = 'a token ends with its end'

const at = (revision: number, price: number): Sight => ({ ...A, revision, price })
const twin: Sight = { sku: 'B', id: 2, price: 20 }

const FINE: Readonly<Record<string, readonly Step[]>> = {
  'is empty': [],
  'has a stone that was created, changed, listed and deleted': [
    create(),
    change(11, 1),
    read(at(1, 11)),
    list([{ ...A, price: 11 }]),
    remove,
    as('missing', read()),
    list([]),
  ],
  'has a create without an answer that was not carried out': [as('unknown', create([], [A])), list([])],
  'has a create without an answer that was carried out': [as('unknown', create([], [A])), list([A]), read(at(0, 10))],
  'has a change without an answer that was carried out, and the next one counts it': [
    create(),
    as('unknown', change(11)),
    change(12, 2),
    read(at(2, 12)),
  ],
  'has a deletion without an answer': [create(), as('unknown', remove), as('missing', read())],
  'has a read that was overtaken by a change': [create(), change(11, 1), meanwhile(read(at(0, 10)))],
  'has a secret that was read': [share, reveal('s'), as('missing', reveal())],
  'has a secret whose reader lost the answer': [share, as('unknown', reveal()), as('missing', reveal())],
  'has a secret that was burned': [share, burn, as('missing', reveal())],
  'has a token that was ended': [use, end, as('missing', use)],
  'has a refresh token that was taken, and then refused': [refresh, as('missing', refresh)],
}

for (const [name, steps] of Object.entries(FINE)) {
  test(`is right where it ${name}`, () => assert.equal(violationsOf({ operations: historyOf(steps), grace: 0 }), []))
}

const BROKEN: readonly (readonly [name: string, rule: string, steps: readonly Step[]])[] = [
  ['lost a stone that was acknowledged', ONCE, [create(), list([])]],
  ['made a stone twice', ONCE, [as('unknown', create([], [A])), list([A, { ...A, id: 2 }])]],
  ['gave one id to two stones', ONCE, [create(), create([{ ...twin, id: 1 }])]],
  ['shows a stone that nobody asked for', ONCE, [create(), list([A, twin])]],
  ['carried out what it had refused', ONCE, [as('refused', create([], [A])), list([A])]],
  ['counts otherwise than it shows', ONCE, [create(), list([A], 2)]],
  ['did half of a bulk', ONCE, [as('unknown', create([], [A, twin])), list([A])]],
  ['does not find what was created', SEEN, [create(), as('missing', read())]],
  ['does not find by its sku what was created', SEEN, [create(), search([])]],
  ['refuses to change what was created', SEEN, [create(), as('missing', change(11))]],
  ['shows what was before a change', SEEN, [create(), change(11, 1), read(at(0, 10))]],
  ['lists what was before a change', SEEN, [create(), change(11, 1), search([A])]],
  ['shows what was deleted', SEEN, [create(), remove, read(at(0, 10))]],
  ['deleted a stone twice', SEEN, [create(), remove, remove]],
  ['gave two changes one revision', GROW, [create(), change(11, 1), meanwhile(change(12, 1))]],
  ['went back', GROW, [create(), change(11, 2), change(12, 1)]],
  ['shows two values at one revision', GROW, [create(), change(11, 1), read(at(1, 10))]],
  ['shows one value at two revisions', GROW, [create(), as('unknown', change(11)), read(at(1, 11)), read(at(2, 11))]],
  ['shows a value that nobody wrote', GROW, [create(), read(at(1, 99))]],
  ['shows a value that was refused', GROW, [create(), as('refused', change(11)), read(at(1, 11))]],
  ['lists otherwise than it shows', AGREE, [create(), change(11, 1), list([A]), read(at(1, 11))]],
  ['shows what it does not list', AGREE, [create(), list([]), read(at(0, 10))]],
  ['lists otherwise the second time', AGREE, [create(), list([A]), list([])]],
  ['told a secret twice', READER, [share, reveal('s'), reveal('s')]],
  ['told a secret that was burned', READER, [share, burn, reveal('s')]],
  ['told another secret', READER, [share, reveal('x')]],
  ['lost a secret', READER, [share, as('missing', reveal())]],
  ['took a token after its end', TOKEN, [use, end, use]],
  ['took a refresh token twice', TOKEN, [refresh, refresh]],
  ['refused a token before its end', TOKEN, [as('missing', use), end]],
]

for (const [name, rule, steps] of BROKEN) {
  test(`is found wrong where it ${name}`, () => {
    const found = rulesBroken(steps)
    assert.ok(found.includes(rule), `found ${found.join(', ') || 'nothing'}`)
  })
}

test('is found wrong by every rule', () => {
  assert.equal([...new Set(BROKEN.map(([, rule]) => rule))].toSorted(), Object.keys(RULES).toSorted())
})

test('lets a token outlive its end by the grace of a log on a server, and no longer', () => {
  assert.equal(rulesBroken([use, end, use], 1_000), [])
  assert.equal(rulesBroken([use, end, use], 1), [TOKEN])
})

test.run()
