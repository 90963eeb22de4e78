import { createCommandContext } from '../../../src/commands/core/command-context.ts'
import { randomUUID } from 'node:crypto'
import { suite } from 'uvu'
import { tracingTools } from './tracing-tools.ts'
import * as assert from 'uvu/assert'
import { MODEL_VERSION } from '../../../src/commands/scores/score-diamonds.ts'
import type { Scores } from '../../../src/optics/scores.ts'
import { roundDecimals } from '../../../src/optics/rounding.ts'
import { OPTICS_VERSION } from '../../../src/optics/version.ts'
import { toEventMetadata } from '../../../src/events/event-metadata.ts'
import { createLogger } from '../../../src/runtime/logger.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { rescore, readRescoringStatus } from '../../../src/reactions/scoring/rescoring.ts'
import { nothingRead } from '../../fixtures/reports/layouts.ts'
import {
  assertModelMatchesLog,
  origin,
  vendorOf,
  project,
  withDisk,
  type Disk,
} from '../../projections/engine/inventory-on-disk.ts'
import { appendScoresOfVersion } from './older-scores.ts'
import { etagOf } from '../../../src/projections/diamonds/diamond-view.ts'
import { readScores, readView } from '../../projections/diamonds/read-view.ts'
import { fixedClock } from '../../fixed-clock.ts'

const test = suite('rescoring')

const OLDER = '0.9.3+00c0ffee'
const NEWER = '99.0.0+00c0ffee'

const tools = ({ store }: Disk) => ({
  ...createCommandContext(store, fixedClock),
  log: createLogger('silent'),
  ...tracingTools(),
})

const rescoreAll = async (disk: Disk) => rescore(tools(disk), (await readRescoringStatus(disk.store)).due, origin)

/** The model versions of a diamond's scores, oldest first. */
const scoredVersions = async ({ store }: Disk, id: number) =>
  (await store.readStream(`scores-${id}`)).map(
    ({ data }) => (data['scores'] as { integral: { ver: string } }).integral.ver,
  )

test(
  'scores diamonds of an older model again, and keeps the older scores in the log',
  withDisk(async (disk) => {
    const [first = 0, second = 0] = await vendorOf(disk.store).create(2)
    await appendScoresOfVersion(disk.store, OLDER, [first, second])
    assert.is(await rescoreAll(disk), 2)
    assert.equal(await scoredVersions(disk, first), [OLDER, OPTICS_VERSION])
    await project(disk)
    await assertModelMatchesLog(disk)
    const model = await disk.reads.model(diamonds.declaration)
    assert.is(etagOf(await readView(model, second)), '"0.2"')
    assert.is((await readScores(model, second))?.integral?.ver, OPTICS_VERSION)
  }),
)

test(
  'uses a partial report that an older model ignored, and scores the stone as of the reading',
  withDisk(async (disk) => {
    const [id = 0] = await vendorOf(disk.store).create(1)
    const size = { length: 6.5, width: 6.4, depth: 3.9 }
    const reading = { ...nothingRead, table: 57, measurements: size }
    const certification = { id: 5, laboratory: 'GIA', number: null, file: null }
    const happened = [
      { id: randomUUID(), type: 'CertificationAttached', data: certification, metadata: toEventMetadata(origin, 0) },
      {
        id: randomUUID(),
        type: 'ReportRead',
        data: { certification: 5, reading },
        metadata: toEventMetadata(origin, 0, '3'),
      },
    ]
    await disk.store.append(`diamond-${id}`, 0n, happened)
    await appendScoresOfVersion(disk.store, OLDER, [id])
    assert.is(await rescoreAll(disk), 1)
    const [, now] = await disk.store.readStream(`scores-${id}`)
    assert.ok(now)
    assert.is(now.data['revision'], 2)
    const { spread } = now.data['scores'] as Scores
    assert.is(spread?.ct, roundDecimals((3.67 * 41.6 ** 1.5) / 1000 - 1, 2))
    assert.equal(await readRescoringStatus(disk.store), { due: [], current: 1, newer: 0 })
    await project(disk)
    const shown = await readScores(await disk.reads.model(diamonds.declaration), id)
    assert.is(shown?.integral?.ver, OPTICS_VERSION)
  }),
)

test(
  'skips diamonds that this model has scored, even if they are requested',
  withDisk(async (disk) => {
    const [id = 0] = await vendorOf(disk.store).create(1)
    await appendScoresOfVersion(disk.store, OLDER, [id])
    await rescoreAll(disk)
    assert.equal(await readRescoringStatus(disk.store), { due: [], current: 1, newer: 0 })
    assert.is(await rescore(tools(disk), [id], origin), 0)
    assert.equal(await scoredVersions(disk, id), [OLDER, OPTICS_VERSION])
  }),
)

test(
  'resumes after an interruption',
  withDisk(async (disk) => {
    const ids = await vendorOf(disk.store).create(7)
    await appendScoresOfVersion(disk.store, OLDER, ids)
    await rescore(tools(disk), ids.slice(0, 3), origin)
    assert.equal(await readRescoringStatus(disk.store), { due: ids.slice(3), current: 3, newer: 0 })
    assert.is(await rescoreAll(disk), 4)
    for (const id of ids) assert.equal(await scoredVersions(disk, id), [OLDER, OPTICS_VERSION])
  }),
)

test(
  'scores each diamond once if two processes run it',
  withDisk(async (disk) => {
    const ids = await vendorOf(disk.store).create(20)
    await appendScoresOfVersion(disk.store, OLDER, ids)
    await Promise.all([rescoreAll(disk), rescoreAll(disk)])
    for (const id of ids) assert.equal(await scoredVersions(disk, id), [OLDER, OPTICS_VERSION])
  }),
)

test(
  'scores the current revision of a changed diamond',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [id = 0] = await vendor.create(1)
    await appendScoresOfVersion(disk.store, OLDER, [id])
    await vendor.patch(id, { carat: 3 })
    await vendor.patch(id, { price: 3 })
    await rescoreAll(disk)
    const [, scored] = await disk.store.readStream(`scores-${id}`)
    assert.is(scored?.data['revision'], 1)
    assert.equal([scored?.metadata['actor'], scored?.metadata['via']], [origin.actor, origin.via])
  }),
)

test(
  'scores a diamond that was never scored',
  withDisk(async (disk) => {
    const [id = 0] = await vendorOf(disk.store).create(1)
    await rescoreAll(disk)
    assert.equal(await scoredVersions(disk, id), [OPTICS_VERSION])
  }),
)

test(
  'skips deleted diamonds and those scored by a newer release',
  withDisk(async (disk) => {
    const vendor = vendorOf(disk.store)
    const [deleted = 0, newer = 0] = await vendor.create(2)
    await appendScoresOfVersion(disk.store, OLDER, [deleted])
    await vendor.remove(deleted)
    await appendScoresOfVersion(disk.store, NEWER, [newer])
    // Scores that were still being computed when the diamond was deleted.
    await appendScoresOfVersion(disk.store, OLDER, [deleted])
    assert.equal(await readRescoringStatus(disk.store), { due: [], current: 0, newer: 1 })
    assert.is(await rescore(tools(disk), [deleted], origin), 0)
  }),
)

test('includes the optics version in the version of the model', () => assert.match(MODEL_VERSION, OPTICS_VERSION))

test.run()
