import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { payloadVersionOf } from '../../../src/domain/event.ts'
import { EVENTS } from '../../../src/events/registry.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { openSqliteEventStore } from '../../../src/stores/sqlite/events.ts'
import { all } from '../../contract/event-store/given.ts'
import { recordings } from '../../events/recordings.ts'
import { MoveFixture } from './moving.ts'

const test = suite<{ fixture: MoveFixture }>('events of earlier schema versions')
test.before.each(async (context) => {
  context.fixture = await MoveFixture.open()
})
test.after.each(({ fixture }) => fixture.close())

const older = [...recordings().values()].filter(({ type, metadata }) => {
  return Number(metadata['schema']) < payloadVersionOf(EVENTS[type] ?? {})
})

const asStored = ({ id, type, data, metadata, stream }: StoredEvent) =>
  JSON.stringify({ id, type, data, metadata, stream })

test('are copied unchanged by a move', async ({ fixture }) => {
  assert.ok(older.length >= 2, 'SecretBurned and ReportRead at least')
  const from = fixture.sqlite('from')
  const to = fixture.sqlite('to')
  await (await fixture.serve(from)).stop()
  const store = openSqliteEventStore(`${from.dataDir}/events.db`)
  for (const [index, event] of older.entries()) await store.append(`older-${index}`, 'none', [event])
  await store.close()

  const { code, err } = await fixture.move(from, to)
  assert.is(code, 0, err)

  const copied = openSqliteEventStore(`${to.dataDir}/events.db`)
  const found = await all(copied.readAll('start', { prefixes: ['older-'] }))
  await copied.close()
  assert.equal(
    found.map(asStored),
    older.map((event, index) => asStored({ ...event, stream: `older-${index}` })),
  )
})

test.run()
