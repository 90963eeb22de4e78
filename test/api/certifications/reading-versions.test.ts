import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { z } from 'zod'
import { auditCertification } from '../../../src/cli/audit/diamond.ts'
import type { EventDeclaration } from '../../../src/domain/event.ts'
import { EVENTS } from '../../../src/events/registry.ts'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import type { StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { areEmbedded, forgetEngines } from '../../engines.ts'
import { fixture, reportNamed } from '../../fixtures/reports/reports.ts'
import { until } from '../../until.ts'
import { vendor } from '../harness/account.ts'
import { attached, certification, text, upload, type ShownCertification } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../harness/service.ts'
import { created, shown } from '../harness/stones.ts'

const test = suite<{ dataDir: string }>('a report reading stored by an earlier release')
test.before.each((context) => {
  context.dataDir = mkdtempSync(join(tmpdir(), 'adamant-readings-'))
})
test.after.each(async ({ dataDir }) => {
  rmSync(dataDir, { recursive: true, force: true })
  await forgetEngines(dataDir)
})

/** Version 1, from releases that did not read laboratory, shape and origin. */
const VERSION_1 = {
  reading: {
    number: '999',
    carat: 0.73,
    measurements: null,
    table: 57,
    depth: 61.8,
    crownAngle: 34.5,
    pavilionAngle: 40.8,
  },
  mismatches: [{ field: 'number', given: '33188', read: '999' }],
}

const by = { actor: 'reports', via: 'projection', correlation: 'earlier' } as const

/** Creates a stone with a report without a file and appends a reading in version 1. @returns the id of the stone */
async function createWithVersion1Reading({ ann, installation: { store } }: Service): Promise<number> {
  const { id } = await created(ann, { carat: 0.73 })
  const parts = [text('product', id), text('laboratory', 'GIA'), text('number', '33188')]
  const attachment = certification(expect(201, await upload(ann, parts)))
  const data = { certification: attachment.id, ...VERSION_1 }
  const event = { id: randomUUID(), type: 'ReportRead', data, metadata: toEventMetadata(by, Date.now(), '1') }
  await store.append(`diamond-${id}`, 1n, [event])
  return id
}

const readingsOf = async ({ installation: { store } }: Service, id: number): Promise<StoredEvent[]> =>
  (await store.readStream(`diamond-${id}`)).filter(({ type }) => type === 'ReportRead')

type CertificationWithWarnings = ShownCertification & { readonly warnings?: readonly string[] }

test('is used in decisions, shown and rebuilt like a current one, and stays unchanged in the log', async ({
  dataDir,
}) => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  const { ann } = service
  const id = await createWithVersion1Reading(service)
  const [stored] = await readingsOf(service, id)
  const stone = async () => shown(expect(200, await ann.get(`/v4/diamond/${id}`)))
  await until('the reading to be shown', async () => {
    const [one] = (await stone())['certifications'] as CertificationWithWarnings[]
    return one?.warnings?.length === 1
  })
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 12 }))
  const [warned] = (await stone())['certifications'] as CertificationWithWarnings[]
  const past = await auditCertification.loadHistory(service.installation, String(warned?.id))
  const [, read] = await past.entries()
  assert.equal([read?.type, read?.undecoded], ['read', undefined])
  assert.ok(read?.changes.some(({ field, to }) => field === 'read.number' && to === '999'))

  const gia = reportNamed('gia')
  await attached(ann, id, fixture(gia.file), '2136273512')
  await until('the reading of today', async () => (await readingsOf(service, id)).length === 2)
  const [untouched, today] = await readingsOf(service, id)
  assert.equal(untouched, stored)
  assert.equal([untouched?.metadata['schema'], today?.metadata['schema']], ['1', '4'])
  assert.equal(Object.keys(today?.data ?? {}), ['certification', 'reading'])
  assert.equal(today?.data['reading'], gia.reading)

  const before = JSON.stringify(await stone())
  await service.stop()
  // The service rebuilds missing read models from the log.
  if (areEmbedded) {
    const models = readdirSync(dataDir).filter((name) => name.startsWith('read-'))
    assert.ok(models.length > 0)
    for (const name of models) rmSync(join(dataDir, name), { recursive: true })
  }
  const restarted = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  const owner = vendor(restarted.url, ann.account, ann.token)
  const readAgain = () => owner.get(`/v4/diamond/${id}`)
  const addressless = (body: string) => body.replaceAll(/https?:\/\/[^/"]+/g, '').replaceAll(/\?[^"]*/g, '')
  assert.is(addressless(JSON.stringify(shown(expect(200, await readAgain())))), addressless(before))
  expect(200, await owner.patch(`/v4/diamond/${id}`, { price: 13 }))
  assert.equal((await readingsOf(restarted, id))[0], stored)
  await restarted.stop()
})

const declarations = EVENTS as Record<string, EventDeclaration>
const VERSION_1_DECLARATION: EventDeclaration = {
  stream: 'diamond-{id}',
  about: 'The service read a report.',
  payload: z.object({ certification: z.int(), reading: z.looseObject({}), mismatches: z.array(z.unknown()) }),
}

test('has version 1; a release that knows only that version rejects changes after a version 2 event, and works for other diamonds', async ({
  dataDir,
}) => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS, dataDir })
  const { ann, installation } = service
  const { id } = await created(ann)
  const other = await created(ann)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 12 }))
  const today = {
    id: randomUUID(),
    type: 'ReportRead',
    data: { certification: 1, reading: {} },
    metadata: toEventMetadata(by, Date.now(), '2'),
  }
  const current = declarations['ReportRead']
  declarations['ReportRead'] = VERSION_1_DECLARATION
  try {
    await installation.store.append(`diamond-${id}`, 1n, [today])
    expect(503, await ann.patch(`/v4/diamond/${id}`, { price: 13 }))
    const { price } = shown(expect(200, await ann.get(`/v4/diamond/${id}`))) as { price?: number }
    assert.is(price, 12)
    expect(200, await ann.patch(`/v4/diamond/${other.id}`, { price: 14 }))
  } finally {
    if (current !== undefined) declarations['ReportRead'] = current
    await service.stop()
  }
})

test.run()
