import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { attached, pathOf, smallPdf } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { GENEROUS_TIMEOUT_MS, startService } from '../harness/service.ts'
import { isStored } from '../harness/stored-files.ts'
import { created } from '../harness/stones.ts'
import { appendTo } from '../../projections/engine/poison-events.ts'
import { until } from '../../until.ts'

const test = suite('the file of an acknowledged certification')

const isAttach = (events: readonly { readonly type: string }[]) =>
  events.some(({ type }) => type === 'CertificationAttached')

/** Runs a hook right before or right after the event of a certification is appended. */
const aroundAttach =
  (hooks: { before?: () => Promise<void>; after?: () => Promise<void> }) =>
  (store: EventStore): EventStore => ({
    ...store,
    async append(stream, expected, events) {
      if (isAttach(events)) await hooks.before?.()
      const position = await store.append(stream, expected, events)
      if (isAttach(events)) await hooks.after?.()
      return position
    },
  })

for (const ahead of [2_000, -86_400_000]) {
  test(`is kept if the clock of the garbage collector is ${ahead} ms ahead of that of the uploader`, async () => {
    const slow = { before: async () => undefined as void }
    const clock = () => Date.now() + ahead
    const service = await startService({
      readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
      clock,
      store: aroundAttach({ before: () => slow.before() }),
    })
    try {
      const { ann } = service
      const { id } = await created(ann)
      const pdf = smallPdf()
      const first = await attached(ann, id, pdf)
      // The removal makes the file due for collection; only the keep-alive of the second upload protects it.
      expect(204, await ann.remove(`/v4/certification/${first.id}`))
      slow.before = async () => {
        slow.before = async () => undefined
        // Waits until the collector has deleted an unused file that was due later.
        const [other, later] = [await created(ann), smallPdf()]
        const { id: unused } = await attached(ann, other.id, later)
        expect(204, await ann.remove(`/v4/certification/${unused}`))
        await until('the removal of another file', async () => !(await isStored(service, later)))
      }
      const again = await attached(ann, id, pdf)
      expect(200, await service.send({ path: pathOf(again.file) }))
      expect(204, await ann.remove(`/v4/certification/${again.id}`))
      await until('its removal', async () => !(await isStored(service, pdf)))
    } finally {
      await service.stop()
    }
  })
}

async function removeAllFiles(files: FileStore): Promise<void> {
  for await (const { digest, touchToken } of files.list()) await files.remove(digest, touchToken)
}

test('is restored if another process deletes it while the certification is recorded', async () => {
  const taking = { after: async () => undefined as void }
  const service = await startService({
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    store: aroundAttach({ after: () => taking.after() }),
  })
  try {
    const { ann, installation } = service
    const { id } = await created(ann)
    taking.after = () => removeAllFiles(installation.files)
    const pdf = smallPdf(700_000)
    const { file } = await attached(ann, id, pdf)
    const response = expect(200, await service.send({ path: pathOf(file) }))
    assert.is(response.headers['content-length'], '700000')
  } finally {
    await service.stop()
  }
})

test('is kept while a parked stream may use it; other files are still collected', async () => {
  const service = await startService({ readModelTimeoutMs: GENEROUS_TIMEOUT_MS })
  try {
    const { ann, installation } = service
    const { store } = installation
    const strange = await created(ann)
    const { id } = await created(ann)
    const pdfs = [smallPdf(), smallPdf()] as const
    const both = [await attached(ann, id, pdfs[0]), await attached(ann, id, pdfs[1])]
    const [, first] = await store.readStream(`diamond-${id}`)
    assert.ok(first)
    const { digest } = first.data['file'] as { digest: string }
    // A later release attached the same report to another stone with an event type that is unknown here.
    const data = { report: { sha256: digest, pages: 2 } }
    await appendTo(store, `diamond-${strange.id}`, { type: 'ReportFiled', data })
    for (const certification of both) expect(204, await ann.remove(`/v4/certification/${certification.id}`))
    await until('the removal of the other one', async () => !(await isStored(service, pdfs[1])))
    assert.ok(await isStored(service, pdfs[0]))
  } finally {
    await service.stop()
  }
})

test.run()
