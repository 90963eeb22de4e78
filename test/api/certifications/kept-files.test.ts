import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'
import type { EventStore } from '../../../src/stores/ports/event-store.ts'
import { attached, pathOf, smallPdf } from '../harness/form.ts'
import { expect } from '../harness/request.ts'
import { PATIENT, startService } from '../harness/service.ts'
import { isStored } from '../harness/stored-files.ts'
import { created } from '../harness/stones.ts'
import { appendTo } from '../../projections/engine/poison-events.ts'
import { until } from '../../until.ts'

const test = suite('the file of a certification that was acknowledged')

const isAttach = (events: readonly { readonly type: string }[]) =>
  events.some(({ type }) => type === 'CertificationAttached')

/** Does something when a certification is being recorded: before its event, or right behind it. */
const around =
  (hooks: { before?: () => Promise<void>; behind?: () => Promise<void> }) =>
  (store: EventStore): EventStore => ({
    ...store,
    async append(stream, expected, events) {
      if (isAttach(events)) await hooks.before?.()
      const position = await store.append(stream, expected, events)
      if (isAttach(events)) await hooks.behind?.()
      return position
    },
  })

for (const ahead of [2_000, -86_400_000]) {
  test(`is there where the machine that collects has a clock ${ahead} ms ahead of those that upload`, async () => {
    const slow = { before: async () => undefined as void }
    const clock = () => Date.now() + ahead
    const service = await startService({ patience: PATIENT, clock, store: around({ before: () => slow.before() }) })
    try {
      const { ann } = service
      const { id } = await created(ann)
      const pdf = smallPdf()
      const first = await attached(ann, id, pdf)
      // The same report once more: its removal makes the file due, and only its holder's touches keep it.
      expect(204, await ann.remove(`/v4/certification/${first.id}`))
      slow.before = async () => {
        slow.before = async () => undefined
        // As long as it takes until one that is due later, and nobody holds, is collected.
        const [other, later] = [await created(ann), smallPdf()]
        const { id: unheld } = await attached(ann, other.id, later)
        expect(204, await ann.remove(`/v4/certification/${unheld}`))
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

async function take(files: FileStore): Promise<void> {
  for await (const { digest, touchToken } of files.list()) await files.remove(digest, touchToken)
}

test('is put back where another process took it from one that stood still while it recorded it', async () => {
  const taking = { behind: async () => undefined as void }
  const service = await startService({ patience: PATIENT, store: around({ behind: () => taking.behind() }) })
  try {
    const { ann, installation } = service
    const { id } = await created(ann)
    taking.behind = () => take(installation.files)
    const pdf = smallPdf(700_000)
    const { file } = await attached(ann, id, pdf)
    const answer = expect(200, await service.send({ path: pathOf(file) }))
    assert.is(answer.headers['content-length'], '700000')
  } finally {
    await service.stop()
  }
})

test('is kept while a stream that was set aside may use it, and others go all the same', async () => {
  const service = await startService({ patience: PATIENT })
  try {
    const { ann, installation } = service
    const { store } = installation
    const strange = await created(ann)
    const { id } = await created(ann)
    const pdfs = [smallPdf(), smallPdf()] as const
    const both = [await attached(ann, id, pdfs[0]), await attached(ann, id, pdfs[1])]
    const [, first] = await store.read(`diamond-${id}`)
    assert.ok(first)
    const { digest } = first.data['file'] as { digest: string }
    // A release to come attached the same report to another stone, in words that are not known here.
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
