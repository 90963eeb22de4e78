import { pino } from 'pino'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Certification } from '../../../src/domain/certification/certification.ts'
import { reportReading, type ReportReadingOptions } from '../../../src/reactions/reports/report-reading.ts'
import { UnreadableReport } from '../../../src/reports/pdf-reader.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { UnsupportedEventVersion } from '../../../src/events/decode.ts'
import { handlerOf } from '../../projections/engine/start-background-services.ts'
import { reportNamed } from '../../fixtures/reports/reports.ts'

const test = suite('the report reading reaction')

const { reading } = reportNamed('gia')
const file = { digest: 'a'.repeat(64), bytes: 9, name: null }
const certification: Certification = { id: 5, laboratory: 'GIA', number: '1', file, reading: null }
const event: StoredEvent = {
  id: 'e-1',
  stream: 'diamond-337',
  revision: 1n,
  position: { commit: 2n, prepare: 2n },
  type: 'CertificationAttached',
  data: { id: 5, laboratory: 'GIA', number: '1', file },
  metadata: { schema: '1', $correlationId: 'r-1' },
}

type Recorded = Parameters<ReportReadingOptions['record']>[0]
type Line = Readonly<Record<string, unknown>>

function given(options: Partial<ReportReadingOptions> = {}) {
  const recorded: Recorded[] = []
  const lines: Line[] = []
  const log = pino(
    { base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
  )
  const reports = {
    readFile: async () => Buffer.from('%PDF-'),
    certification: async () => certification,
    readReport: async () => reading,
    record: async (report: Recorded) => {
      recorded.push(report)
      return undefined
    },
    log,
    ...options,
  }
  return { react: handlerOf(reportReading, { reports }), recorded, lines }
}

test('records the reading with the ids of the request and the event that caused it', async () => {
  const { react, recorded } = given()
  await react([event])
  assert.equal(recorded, [{ diamond: 337, certification: 5, reading, correlation: 'r-1', causation: 'e-1' }])
})

test('logs a warning if the report contradicts the data of its owner', async () => {
  const mismatch = { field: 'number', given: '1', read: '2136273512' } as const
  let count = 0
  const contradicted = () => void count++
  const { react, lines } = given({
    record: async () => ({ contradictions: [mismatch] }),
    onContradiction: contradicted,
  })
  await react([event])
  assert.is(count, 1)
  const logged = { diamond: 337, certification: 5, ...mismatch, msg: 'a report contradicts the data of its owner' }
  assert.equal(lines, [{ level: 40, ...logged }])
})

test('skips certifications that were read or removed or have no file', async () => {
  const readReport = () => Promise.reject(new Error('it was read'))
  for (const current of [undefined, { ...certification, reading }]) {
    const { react } = given({ certification: async () => current, readReport })
    await react([event])
  }
  const { react } = given({ readReport })
  await react([
    { ...event, data: { ...event.data, file: null } },
    { ...event, type: 'DiamondPatched' },
  ])
})

test('records nothing for an unreadable report or one without any value', async () => {
  const nothing = { ...reading, number: null, carat: null, measurements: null, table: null, depth: null }
  const measures = { crownAngle: null, pavilionAngle: null, girdle: null, star: null, lower: null }
  const unstated = { ...measures, laboratory: null, shape: null, isLabGrown: null, unclear: [] }
  for (const readReport of [
    async () => Promise.reject(new UnreadableReport('it is encrypted')),
    async () => ({ ...nothing, ...unstated }),
  ]) {
    const { react, recorded } = given({ readReport })
    await react([event])
    assert.equal(recorded, [])
  }
})

test('reports a diamond with unreadable events as failed, and reads the reports of all others', async () => {
  const newer = { ...event, metadata: { ...event.metadata, schema: '99' } }
  const undecodable = async () => Promise.reject(new UnsupportedEventVersion('of a newer release'))
  for (const options of [{}, { certification: undecodable }, { record: undecodable }]) {
    const failures = await given(options).react([newer, event])
    assert.is(failures?.[0]?.event, newer)
  }
  const { react, recorded } = given()
  await react([newer, event])
  assert.is(recorded.length, 1)
})

test('fails, so that the event is retried, if reading or recording was interrupted', async () => {
  const interrupted = async () => Promise.reject(new Error('The reader was closed'))
  for (const options of [{ readReport: interrupted }, { record: interrupted }]) {
    const failed = await given(options)
      .react([event])
      .catch((error: unknown) => error)
    assert.ok(failed instanceof Error)
  }
})

test('reports a missing or damaged file as failed, so that an operator can retry, and reads all others', async () => {
  const lost = { ...file, digest: 'b'.repeat(64) }
  const readFile = async (digest: string) => (digest === lost.digest ? undefined : Buffer.from('%PDF-'))
  const { react, recorded } = given({ readFile })
  const failures = await react([{ ...event, data: { ...event.data, file: lost } }, event])
  assert.equal(
    failures?.map(({ error }) => String(error)),
    [`BytesMissing: the file ${lost.digest} of certification 5 is missing or damaged`],
  )
  assert.is(recorded.length, 1)
})

test.run()
