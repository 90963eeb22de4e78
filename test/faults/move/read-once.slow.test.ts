import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../../api/harness/account.ts'
import { attached, smallPdf } from '../../api/harness/form.ts'
import { expect } from '../../api/harness/request.ts'
import { created, createdMany, stone } from '../../api/harness/stones.ts'
import { waitForScores, MoveFixture } from '../../cli/move/moving.ts'
import { assertMoved } from './copies.ts'
import type { CountedReads } from './counted-reads.ts'

/** Number of bulks and of the stones in each. */
const TOGETHER = 500
const TIMES = 16
const FILES = 3
const COUNTED_READS = fileURLToPath(new URL('counted-reads.ts', import.meta.url))

const test = suite<{ fixture: MoveFixture }>('an installation that is moved during writes')
test.before.each(async (given) => {
  given.fixture = await MoveFixture.open()
})
test.after.each(({ fixture }) => fixture.close())

/** Stones that are written during the move: few compared with the existing ones. */
const MEANWHILE = 100

/** Creates stones until one is rejected, at most MEANWHILE. @returns how many were acknowledged */
async function writeMeanwhile(ann: Vendor): Promise<number> {
  for (let count = 0; count < MEANWHILE; count++) {
    const response = await ann.post('/v4/diamond', stone({ sku: `meanwhile-${count}` }))
    if (response.status === 503) return count
    expect(201, response)
  }
  return MEANWHILE
}

test('is verified before its source is fenced, and only later data is verified after that', async ({ fixture }) => {
  const [from, to] = [fixture.sqlite('a'), fixture.sqlite('b')]
  const service = await fixture.serve(from)
  try {
    const { id } = await created(service.ann)
    for (let file = 0; file < FILES; file++) await attached(service.ann, id, smallPdf(50_000 + file))
    for (let time = 0; time < TIMES; time++) await createdMany(service.ann, TOGETHER, `MANY-${time}`)
    await waitForScores(service, TIMES * TOGETHER + 1)
    const writing = writeMeanwhile(service.ann)
    const { code, out, err } = await fixture.moveWithProgram(COUNTED_READS, from, to)
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
      assert.ok(events < moved.events / 4, `${events} of ${moved.events} events of the ${end} were read again`)
      assert.is(files, 0, `${files} files of the ${end} were read again`)
    }
  } finally {
    await service.stop()
  }
  await assertMoved(from, to)
})

test.run()
