import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { attached, smallPdf } from '../../api/harness/form.ts'
import { expect } from '../../api/harness/request.ts'
import { created, createdMany, stone } from '../../api/harness/stones.ts'
import { scoredAll, Sites } from '../../cli/move/moving.ts'
import { isMoved } from './copies.ts'
import type { CountedReads } from './counted-reads.ts'

/** Stones that are created together, and how often. */
const TOGETHER = 500
const TIMES = 16
const FILES = 3
const COUNTED_READS = fileURLToPath(new URL('counted-reads.ts', import.meta.url))

const test = suite<{ sites: Sites }>('an installation that is moved while it is written to')
test.before.each(async (given) => {
  given.sites = await Sites.open()
})
test.after.each(({ sites }) => sites.close())

/** Few beside those that are there before, however fast they are written. */
const MEANWHILE = 100

/** Creates some stones, or as many as are accepted. @returns how many were acknowledged */
async function writeMeanwhile(ann: Vendor): Promise<number> {
  for (let told = 0; told < MEANWHILE; told++) {
    const answer = await ann.post('/v4/diamond', stone({ sku: `meanwhile-${told}` }))
    if (answer.status === 503) return told
    expect(201, answer)
  }
  return MEANWHILE
}

test('is compared before its source is closed, and only what came since behind it', async ({ sites }) => {
  const [from, to] = [sites.sqlite('a'), sites.sqlite('b')]
  const service = await sites.serve(from)
  try {
    const { id } = await created(service.ann)
    for (let file = 0; file < FILES; file++) await attached(service.ann, id, smallPdf(50_000 + file))
    for (let time = 0; time < TIMES; time++) await createdMany(service.ann, TOGETHER, `MANY-${time}`)
    await scoredAll(service, TIMES * TOGETHER + 1)
    const writing = writeMeanwhile(service.ann)
    const { code, out, err } = await sites.copyBy(COUNTED_READS, from, to)
    assert.is(code, 0, err)
    assert.ok((await writing) > 0)
    expect(503, await service.ann.post('/v4/diamond', stone({ sku: 'too-late' })))
    const [moved, read] = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown) as [{ events: number; files: number }, CountedReads]
    assert.ok(moved.events > 2 * TIMES * TOGETHER)
    assert.is(moved.files, FILES)
    for (const [end, { events, files }] of Object.entries(read)) {
      assert.ok(events < moved.events / 4, `${events} of ${moved.events} events were read again at the ${end}`)
      assert.is(files, 0, `${files} files were read again at the ${end}`)
    }
  } finally {
    await service.stop()
  }
  await isMoved(from, to)
})

test.run()
