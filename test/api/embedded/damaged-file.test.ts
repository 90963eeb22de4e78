import { createHash } from 'node:crypto'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { readDeadLetters } from '../../../src/cli/dead-letters.ts'
import { retryStreams } from '../../../src/commands/installation/retry-streams.ts'
import { checkpointModelOf } from '../../../src/projections/engine/reaction.ts'
import type { DeadLetter } from '../../../src/stores/ports/read-store.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { fixture, reportNamed } from '../../fixtures/reports/reports.ts'
import { until } from '../../until.ts'
import { attached, pathOf, smallPdf } from '../harness/form.ts'
import { attachModel, model, modelFile } from '../harness/models.ts'
import { expect, refusal } from '../harness/request.ts'
import { apiSuite, startService, type Service } from '../harness/service.ts'
import { created } from '../harness/stones.ts'

const lines: string[] = []
const test = apiSuite('a stored file', {
  installation: (opened) => ({
    ...opened,
    log: createLogger('error', { write: (line: string) => void lines.push(line) }),
  }),
})

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

/** Where a file of these bytes is stored. */
function storedPath({ dataDir }: Service, bytes: Buffer): string {
  const digest = digestOf(bytes)
  return join(dataDir, 'files', digest.slice(0, 2), digest.slice(2, 4), digest)
}

const REQUESTS = [
  {},
  { method: 'HEAD' },
  { headers: { Range: 'bytes=0-9' } },
  { headers: { Range: 'bytes=19000-' } },
  { headers: { Range: 'bytes=39000-' } },
]

for (const [name, bytes] of [
  ['half', 20_000],
  ['empty', 0],
  ['longer', 50_000],
] as const) {
  test(`that is ${name === 'half' ? 'cut in half' : name} on the disk gets 503 for each request, with a line in the log`, async ({
    ann,
    service,
  }) => {
    const { id } = await created(ann)
    const pdf = Buffer.concat([smallPdf(39_900), Buffer.from(`%${name}`.padEnd(100))])
    const path = pathOf((await attached(ann, id, pdf)).file)
    truncateSync(storedPath(service, pdf), bytes)
    for (const request of REQUESTS) {
      lines.length = 0
      const response = await service.send({ ...request, path })
      assert.is(response.status, 503, JSON.stringify(request))
      assert.is(response.headers['retry-after'], '2')
      assert.is(lines.length, 1, lines.join(''))
      assert.match(lines[0] ?? '', `file ${digestOf(pdf)} with 40000 bytes, but the file store has ${bytes}`)
    }
  })
}

test('of a 3D model that is shorter on the disk gets 503', async ({ ann, service }) => {
  const { id } = await created(ann)
  const bytes = modelFile('Round', 'Good', 1)
  expect(201, await attachModel(ann, id, bytes))
  const { file = '' } = model(expect(200, await ann.get(`/v4/diamond/${id}/model`)))
  truncateSync(storedPath(service, bytes), bytes.length - 1)
  refusal(503, await service.send({ path: pathOf(file) }))
})

/** A service whose reaction `name` begins when `start` is called. */
async function withHeldReaction(
  name: string,
  run: (service: Service, tools: { start(): void; deadLetters(): Promise<readonly DeadLetter[]> }) => Promise<void>,
): Promise<void> {
  let isHeld = true
  const service = await startService({
    scored: true,
    reads: (reads) => ({
      ...reads,
      acquireLease: async (declaration) =>
        declaration.name === name && isHeld ? undefined : reads.acquireLease(declaration),
    }),
  })
  try {
    await run(service, {
      start: () => (isHeld = false),
      deadLetters: async () => (await readDeadLetters(service.installation, checkpointModelOf(name))).deadLetters,
    })
  } finally {
    await service.stop()
  }
}

test('whose bytes were changed is not read as a report, but is a dead letter until it is repaired', () =>
  withHeldReaction('reports', async (service, { start, deadLetters }) => {
    const { ann, installation } = service
    const pdf = fixture(reportNamed('gia').file)
    const { id } = await created(ann, { carat: 0.73 })
    await attached(ann, id, pdf, '2136273512')
    const stream = `diamond-${id}`
    const readings = async () =>
      (await installation.store.readStream(stream)).filter(({ type }) => type === 'ReportRead')
    writeFileSync(storedPath(service, pdf), Buffer.concat([pdf.subarray(0, -1), Buffer.from('x')]))
    start()
    await until('a dead letter', async () => (await deadLetters()).length > 0)
    const [deadLetter] = await deadLetters()
    assert.is(deadLetter?.stream, stream)
    assert.match(deadLetter?.reason ?? '', `the file ${digestOf(pdf)} of certification`)
    assert.equal(await readings(), [])
    writeFileSync(storedPath(service, pdf), pdf)
    const origin = { actor: 'operator', via: 'cli', correlation: 'retry' } as const
    await retryStreams(installation.context, { model: 'reports', streams: [stream] }, origin)
    await until('the report to be read', async () => (await readings()).length > 0)
    assert.equal(await deadLetters(), [])
  }))

test('of a 3D model that was replaced by another valid one gives no scores', () =>
  withHeldReaction('scoring', async (service, { start, deadLetters }) => {
    const { ann, installation } = service
    const [ownModel, otherModel] = [modelFile('Round', 'Good', 1), modelFile('Round', 'Poor', 1)]
    const { id } = await created(ann, { carat: 1 })
    expect(201, await attachModel(ann, id, ownModel))
    writeFileSync(storedPath(service, ownModel), otherModel)
    start()
    await until('a dead letter', async () => (await deadLetters()).length > 0)
    assert.match((await deadLetters())[0]?.reason ?? '', `The file ${digestOf(ownModel)} of a 3D model is missing or`)
    assert.equal(await installation.store.readStream(`scores-${id}`), [])
  }))

test.run()
