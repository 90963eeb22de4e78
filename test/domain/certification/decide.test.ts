import {
  attach,
  findCertification,
  create,
  detach,
  diamondFold,
  recordReportReading,
  remove,
  type Diamond,
  type DiamondEvent,
} from '../../../src/domain/diamond/diamond.ts'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NewCertification } from '../../../src/domain/certification/certification.ts'
import { RequestError } from '../../../src/domain/request-error.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'

const OWNER = 7
const DIAMOND = 337
const file = { digest: 'a'.repeat(64), bytes: 12, name: 'report.pdf' }
const report: NewCertification = { laboratory: 'GIA', number: '2136273512', file }
const given = (...events: DiamondEvent[]): Diamond => events.reduce(diamondFold.evolve, diamondFold.initialState)
const born = create(DIAMOND, OWNER, { sku: 'A-1', cutShape: 2, carat: 0.73 }, 0)
const attached = (id: number, certification = report) =>
  attach(given(born), { diamond: DIAMOND, owner: OWNER }, id, certification)
const refused = (kind: string) => (error: unknown) => error instanceof RequestError && error.kind === kind

const test = suite('a certification')

test('is listed with its diamond in the order of attachment', () => {
  const diamond = given(born, ...attached(2), ...attached(1))
  assert.equal(diamond.status === 'live' && diamond.certifications.map(({ id }) => id), [2, 1])
  assert.equal(findCertification(diamond, 2), { id: 2, ...report, reading: null })
})

test('can be attached only to an existing diamond, by its owner', () => {
  const at = { diamond: DIAMOND, owner: 8 }
  assert.throws(() => attach(given(born), at, 1, report), refused('forbidden'))
  assert.throws(() => attach(diamondFold.initialState, at, 1, report), refused('missing'))
})

test('no longer exists after its removal, and the event names the file to delete', () => {
  const diamond = given(born, ...attached(1), ...attached(2, { ...report, file: null }))
  const events = detach(diamond, 1, OWNER)
  assert.equal(events, [{ type: 'CertificationRemoved', data: { id: 1, digest: file.digest } }])
  assert.is(findCertification(given(born, ...attached(1), ...events), 1), undefined)
  assert.equal(detach(diamond, 2, OWNER)[0]?.data, { id: 2, digest: null })
})

test('can be removed only once, by the owner', () => {
  const diamond = given(born, ...attached(1))
  assert.throws(() => detach(diamond, 1, 8), refused('forbidden'))
  assert.throws(() => detach(diamond, 2, OWNER), refused('missing'))
  assert.throws(() => detach(given(born, ...attached(1), ...detach(diamond, 1, OWNER)), 1, OWNER), refused('missing'))
})

test('is removed by a separate event when its diamond is deleted', () => {
  const types = remove(given(born, ...attached(1), ...attached(2)), DIAMOND, OWNER).map(({ type }) => type)
  assert.equal(types, ['CertificationRemoved', 'CertificationRemoved', 'DiamondDeleted'])
})

test('stores the first reading of its report only', () => {
  const diamond = given(born, ...attached(1))
  const events = recordReportReading(diamond, 1, { ...nothingRead, table: 57 })
  const read = given(born, ...attached(1), ...events)
  assert.is(findCertification(read, 1)?.reading?.table, 57)
  assert.equal(recordReportReading(read, 1, { ...nothingRead, table: 58 }), [])
  assert.equal(recordReportReading(diamond, 9, nothingRead), [])
})

test('does not count as changed by the owner when its report is read', () => {
  const before = given(born, ...attached(1))
  const read = given(born, ...attached(1), ...recordReportReading(before, 1, nothingRead))
  assert.is(before.status === 'live' && before.serviceEventsSinceOwnerChange, 0)
  assert.is(read.status === 'live' && read.serviceEventsSinceOwnerChange, 1)
  const changed = diamondFold.evolve(read, { type: 'DiamondPatched', data: { set: { price: 5 }, removed: [] } })
  assert.is(changed.status === 'live' && changed.serviceEventsSinceOwnerChange, 0)
})

test.run()
