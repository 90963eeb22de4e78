import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { ReportRead } from '../../../src/domain/certification/certification.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { onPaper } from '../../fixtures/reports/paper.ts'
import { fixture, reportNamed } from '../../fixtures/reports/reports.ts'
import { attached } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { apiSuite, GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { created } from '../harness/stones.ts'
import { until } from '../../until.ts'

/** Readings are not recorded before this resolves. */
const recording = { until: Promise.resolve() }

const delayRecording = (store: EventStore): EventStore => ({
  ...store,
  async append(stream, expected, events) {
    if (events.some(({ type }) => type === 'ReportRead')) await recording.until
    return store.append(stream, expected, events)
  },
})

const test = apiSuite('the text of a report', { store: delayRecording })

const gia = reportNamed('gia')
const pdf = fixture(gia.file)

async function readings({ installation }: Service, diamond: number): Promise<ReportRead['data'][]> {
  const events = await installation.store.readStream(`diamond-${diamond}`)
  return events.filter(({ type }) => type === 'ReportRead').map(({ data }) => data as ReportRead['data'])
}

/** Waits until `count` reports of a diamond have been read. */
async function untilRead(service: Service, diamond: number, count = 1): Promise<ReportRead['data'][]> {
  await until(`${count} reports to be read`, async () => (await readings(service, diamond)).length >= count)
  return readings(service, diamond)
}

test('is read after the response and recorded on the stream of the diamond by the service', async ({
  ann,
  service,
}) => {
  const { id } = await created(ann, { carat: 0.73 })
  const answered = Promise.withResolvers<void>()
  recording.until = answered.promise
  const certification = await attached(ann, id, pdf, '2136273512')
  assert.equal(await readings(service, id), [])
  answered.resolve()
  const [read] = await untilRead(service, id)
  assert.equal(read, { certification: certification.id, reading: gia.reading })
  const events = await service.installation.store.readStream(`diamond-${id}`)
  const [attachment, reading] = events.slice(-2)
  assert.is(reading?.metadata['actor'], 'reports')
  assert.is(reading?.metadata['$causationId'], attachment?.id)
  assert.is(reading?.metadata['$correlationId'], attachment?.metadata['$correlationId'])
})

test('changes neither the diamond nor its ETag, which stays valid for If-Match', async ({ ann, service }) => {
  const { id } = await created(ann)
  await attached(ann, id, pdf, '2136273512')
  const before = await ann.get(`/v4/diamond/${id}`)
  await untilRead(service, id)
  const after = await ann.get(`/v4/diamond/${id}`)
  assert.equal([after.text, after.headers.etag], [before.text, before.headers.etag])
  const etag = String(before.headers.etag)
  const changed = expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 5 }, { 'If-Match': etag }))
  assert.is(changed.headers.etag, '"3.0"')
  expect(412, await ann.patch(`/v4/diamond/${id}`, { price: 6 }, { 'If-Match': etag }))
})

test('is reported in a warning if a value is ambiguous, and the warning changes the ETag', async ({ ann, service }) => {
  const { id } = await created(ann, { access: 2, dataAccess: 2 })
  const twice = await onPaper([
    ['Table', '57%'],
    ['Depth', '61.8%'],
    ['Table Size', '58%'],
  ])
  await attached(ann, id, twice)
  const [read] = await untilRead(service, id)
  assert.equal([read?.reading.table, read?.reading.depth, read?.reading.unclear], [null, 61.8, ['table']])
  const { text, headers } = await ann.get(`/v4/diamond/${id}`)
  const [{ warnings }] = (JSON.parse(text) as { certifications: [{ warnings: string[] }] }).certifications
  assert.equal(warnings, ['The report can be read in several ways, so it was not used for: table'])
  assert.is(headers.etag, '"1.1"')
  assert.not.match((await service.send({ path: `/diamond/${id}` })).text, 'class="warning"')
})

test('that cannot be read does not fail the upload, and the next report is read', async ({ ann, service }) => {
  const { id } = await created(ann)
  await attached(ann, id, fixture('encrypted.pdf'))
  await attached(ann, id)
  const last = await attached(ann, id, fixture('scripts-and-attachment.pdf'))
  const read = await untilRead(service, id)
  assert.equal(
    read.map(({ certification }) => certification),
    [last.id],
  )
})

test('is read once, also if the service stopped before it could read it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'adamant-reading-'))
  const first = await startService({ dataDir, settings: { ROLES: 'http' } })
  const { id } = await created(first.ann)
  await attached(first.ann, id, pdf)
  await first.stop()
  const second = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  await untilRead(second, id)
  await second.stop()
  const third = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  const { id: later } = await created(third.ann)
  await attached(third.ann, later, pdf)
  await untilRead(third, later)
  assert.is((await readings(third, id)).length, 1)
  await third.stop()
  rmSync(dataDir, { recursive: true })
})

test.run()
