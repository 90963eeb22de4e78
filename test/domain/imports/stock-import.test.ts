import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  deleteImport,
  dueAt,
  endImport,
  endUndo,
  expireImports,
  IMPORT_STATES,
  isUndoable,
  readImport,
  startImport,
  startUndo,
  stockImportsFold,
  uploadImport,
  type StockImport,
  type StockImportEvent,
  type StockImports,
} from '../../../src/domain/imports/stock-import.ts'
import { RequestError } from '../../../src/domain/request-error.ts'

const test = suite('an import of a stock list')

const HOUR_MS = 3_600_000
const UPLOADED_AT = 1_000_000
const FILE = { digest: 'f1', bytes: 10 }
const READING = { digest: 'r1', bytes: 20 }
const COUNTS = { created: 2, changed: 0, unchanged: 0, deleted: 0, certifications: 1 }
const STARTED = { id: 'im_1', run: '5b0c3f0e-8a4b-4d0f-9c1d-6a7e2f3b4c5d', completedBulks: 0, total: 2 }

const uploaded = (id = 'im_1', outcome: 'asking' | 'invalid' | 'ready' = 'ready') => ({
  id,
  name: 'stones.csv',
  file: FILE,
  options: {},
  reading: READING,
  outcome,
})

const fold = (events: readonly StockImportEvent[], imports: StockImports = []) =>
  events.reduce((state, event) => stockImportsFold.evolve(state, event), imports)

const given = (outcome: 'asking' | 'invalid' | 'ready' = 'ready') =>
  fold(uploadImport([], uploaded('im_1', outcome), UPLOADED_AT))
const applying = () => fold(startImport(given(), { ...STARTED, reading: READING }), given())
const applied = () => fold(endImport(applying(), 'im_1', { counts: COUNTS }), applying())

/** An import in every state. */
const inState: Readonly<Record<(typeof IMPORT_STATES)[number], () => StockImports>> = {
  asking: () => given('asking'),
  invalid: () => given('invalid'),
  ready: () => given(),
  applying,
  applied,
  undoing: () => fold(startUndo(applied(), 'im_1', false), applied()),
  undone: () => {
    const undoing = inState.undoing()
    return fold(endUndo(undoing, 'im_1', { counts: { restored: 2, left: 0 } }), undoing)
  },
  failed: () => fold(endImport(applying(), 'im_1', { why: 'a reason' }), applying()),
}

const first = (imports: StockImports): StockImport => {
  const [one] = imports
  if (one === undefined) throw new Error('there is no import')
  return one
}

const isRefused = (kind: string, decide: () => unknown): boolean => {
  try {
    decide()
    return false
  } catch (error) {
    if (error instanceof RequestError && error.kind === kind) return true
    throw error
  }
}

const statesIn = (isAllowed: (imports: StockImports) => boolean) =>
  IMPORT_STATES.filter((state) => isAllowed(inState[state]()))

test('is in the state of its last event', () => {
  for (const state of IMPORT_STATES) assert.is(first(inState[state]()).state, state)
})

test('can only be started when it is ready', () => {
  const start = (imports: StockImports) =>
    !isRefused('conflict', () => startImport(imports, { ...STARTED, reading: READING }))
  assert.equal(statesIn(start), ['ready'])
})

test('can only be read again before it is applied', () => {
  const read = (imports: StockImports) =>
    !isRefused('conflict', () => readImport(imports, { id: 'im_1', options: {}, reading: READING, outcome: 'ready' }))
  assert.equal(statesIn(read), ['asking', 'invalid', 'ready'])
})

test('can only be undone if it may have changed stones', () => {
  const undo = (imports: StockImports) => !isRefused('conflict', () => startUndo(imports, 'im_1', false))
  assert.equal(statesIn(undo), ['applied', 'failed'])
  assert.equal(
    statesIn((imports) => isUndoable(first(imports))),
    ['applied', 'failed'],
  )
  const nothing = { ...COUNTS, created: 0, unchanged: 2 }
  const unchanged = fold(endImport(applying(), 'im_1', { counts: nothing }), applying())
  assert.ok(isRefused('conflict', () => startUndo(unchanged, 'im_1', false)))
  const expired = fold(expireImports(given(), UPLOADED_AT + 25 * HOUR_MS), given())
  assert.ok(isRefused('conflict', () => startUndo(expired, 'im_1', false)))
})

test('cannot be deleted while it is at work', () => {
  const remove = (imports: StockImports) => !isRefused('conflict', () => deleteImport(imports, 'im_1'))
  assert.equal(
    statesIn(remove),
    IMPORT_STATES.filter((state) => state !== 'applying' && state !== 'undoing'),
  )
})

test('waits while another one of the account is at work', () => {
  const both = (imports: StockImports) => fold(uploadImport(imports, uploaded('im_2'), UPLOADED_AT), imports)
  const second = { ...STARTED, id: 'im_2', reading: READING }
  const start = (imports: StockImports) => !isRefused('conflict', () => startImport(both(imports), second))
  assert.equal(
    statesIn(start),
    IMPORT_STATES.filter((state) => state !== 'applying' && state !== 'undoing'),
  )
})

test('is not started if it was read again meanwhile', () => {
  const other = { digest: 'r2', bytes: 20 }
  const again = readImport(given(), { id: 'im_1', options: {}, reading: other, outcome: 'ready' })
  assert.equal(again[0]?.type === 'ImportRead' && again[0].data.released, ['r1'])
  assert.ok(isRefused('conflict', () => startImport(fold(again, given()), { ...STARTED, reading: READING })))
})

test('is refused if ten of the account wait to be applied', () => {
  let imports: StockImports = []
  for (let index = 0; index < 10; index++)
    imports = fold(uploadImport(imports, uploaded(`im_${index}`), UPLOADED_AT), imports)
  assert.ok(isRefused('invalid', () => uploadImport(imports, uploaded('im_10'), UPLOADED_AT)))
  const fewer = fold(deleteImport(imports, 'im_3'), imports)
  assert.is(uploadImport(fewer, uploaded('im_10'), UPLOADED_AT).length, 1)
})

test('ends once, and not after it was ended by another process', () => {
  assert.equal(endImport(applied(), 'im_1', { counts: COUNTS }), [])
  assert.equal(endUndo(inState.undone(), 'im_1', { why: 'late' }), [])
  assert.equal(endImport([], 'im_1', { why: 'deleted' }), [])
})

test('whose undo is refused stays applied, and says why', () => {
  const undoing = inState.undoing()
  const { state, why } = first(fold(endUndo(undoing, 'im_1', { why: 'changed since' }), undoing))
  assert.equal([state, why], ['applied', 'changed since'])
})

test('releases its file when it ends, and what was understood of it when it is deleted', () => {
  const released = ([event]: readonly StockImportEvent[]) =>
    event !== undefined && 'released' in event.data ? event.data.released : []
  assert.equal(released(endImport(applying(), 'im_1', { counts: COUNTS })), ['f1'])
  assert.equal(released(endImport(applying(), 'im_1', { why: 'a reason' })), ['f1'])
  assert.equal(released(deleteImport(given(), 'im_1')), ['f1', 'r1'])
  assert.equal(released(deleteImport(applied(), 'im_1')), ['r1'])
  for (const state of IMPORT_STATES) {
    const isFileNeeded = ['asking', 'invalid', 'ready', 'applying'].includes(state)
    assert.is(first(inState[state]()).file !== null, isFileNeeded, state)
  }
})

test('expires after a day if it is not applied, and is listed for 30 days', () => {
  const typesAt = (imports: StockImports, hours: number) =>
    expireImports(imports, UPLOADED_AT + hours * HOUR_MS).map(({ type }) => type)
  for (const state of IMPORT_STATES) {
    const imports = inState[state]()
    const isUnapplied = ['asking', 'invalid', 'ready'].includes(state)
    const isAtWork = ['applying', 'undoing'].includes(state)
    assert.equal(typesAt(imports, 23.9), [], state)
    assert.equal(typesAt(imports, 24), isUnapplied ? ['ImportExpired'] : [], state)
    assert.equal(typesAt(imports, 719), isUnapplied ? ['ImportExpired'] : [], state)
    if (!isUnapplied) assert.equal(typesAt(imports, 720), isAtWork ? [] : ['ImportDeleted'], state)
    assert.is(dueAt(first(imports)) === 0, isAtWork, state)
  }
  const expired = fold(expireImports(given(), UPLOADED_AT + 24 * HOUR_MS), given())
  assert.equal([first(expired).state, first(expired).file], ['failed', null])
  assert.equal(typesAt(expired, 720), ['ImportDeleted'])
})

test('that does not exist is missing for every command', () => {
  for (const decide of [
    () => startImport([], { ...STARTED, reading: READING }),
    () => readImport([], { id: 'im_1', options: {}, reading: READING, outcome: 'ready' }),
    () => startUndo([], 'im_1', false),
    () => deleteImport([], 'im_1'),
  ])
    assert.ok(isRefused('missing', decide))
})

test.run()
