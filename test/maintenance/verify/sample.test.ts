import { rmSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { sampleDocuments, verifySample } from '../../../src/maintenance/verify/sample.ts'
import type { StoredDocument } from '../../../src/stores/ports/read-store.ts'
import { areEmbedded } from '../../engines.ts'
import { certificateIn, inFile, InstallationFiles } from './installation-files.ts'
import { withInstallation } from './verify-folder.ts'

const test = suite<{ files: InstallationFiles }>('verify of a sample')
test.before(async (context) => {
  context.files = new InstallationFiles()
  if (areEmbedded) await context.files.fill()
})
test.after(({ files }) => files.remove())

const verifySampleOf = (folder: string, count: number) =>
  withInstallation(folder, (installation) => verifySample(installation, count, new AbortController().signal))

const DAMAGES: readonly (readonly [name: string, damage: (folder: string) => void, where: RegExp, what: RegExp])[] = [
  [
    'a changed document',
    (folder) => inFile(folder, 'read-diamonds', (db) => db.exec(`UPDATE documents SET state = '{}' WHERE id = 1`)),
    /^(?:diamond|scores)-1@\d+$/,
    /document 1 of diamonds differs from the log in state/,
  ],
  [
    'a changed event',
    (folder) =>
      inFile(folder, 'events', (db) =>
        db.exec(`UPDATE events SET metadata = replace(metadata, 'account-', 'accounx-') WHERE stream = 'diamond-1'`),
      ),
    /^diamond-1@\d+$/,
    /was altered or moved/,
  ],
  [
    'an event with invalid JSON',
    (folder) =>
      inFile(folder, 'events', (db) =>
        db.exec(`UPDATE events SET data = substr(data, 2) WHERE stream = 'diamond-1' AND revision = 1`),
      ),
    /^diamond-1@1$/,
    /is corrupt/,
  ],
  [
    'a diamond whose events were deleted',
    (folder) =>
      inFile(folder, 'events', (db) => db.exec(`DELETE FROM events WHERE stream IN ('diamond-1', 'scores-1')`)),
    /^document 1 of diamonds$/,
    /exists, but not according to the log/,
  ],
  [
    'an event of an unknown type',
    (folder) =>
      inFile(folder, 'events', (db) =>
        db.exec(`UPDATE events SET type = 'DiamondLifted' WHERE stream = 'diamond-2' AND revision = 0`),
      ),
    /^diamond-2@0$/,
    /^DiamondLifted cannot be folded into diamonds/,
  ],
  [
    'a deleted file',
    (folder) => rmSync(certificateIn(folder)),
    /^diamond-1@\d+$/,
    /the file [0-9a-f]{64} of certification \d+ is missing/,
  ],
]

if (areEmbedded) {
  test('finds nothing in an undamaged installation, and reports the number of checked documents', async ({ files }) => {
    for (const [count, checked] of [
      [2, 2],
      // The installation has four diamonds.
      [100, 4],
    ] as const) {
      const { report } = await verifySampleOf(files.copy(), count)
      assert.equal(report.differences, [])
      assert.is(report.models['diamonds']?.documents, checked)
      assert.ok(report.ok && report.events > 2 && report.tree.ok)
    }
  })

  for (const [name, damage, where, what] of DAMAGES) {
    test(`finds ${name} if it is in the sample`, async ({ files }) => {
      const folder = files.copy()
      damage(folder)
      const { report, differences } = await verifySampleOf(folder, 100)
      assert.ok(differences > 0 && !report.ok)
      const fits = report.differences.some((one) => where.test(one.where) && what.test(one.what))
      assert.ok(fits, JSON.stringify(report.differences))
      files.drop(folder)
    })
  }
} else console.log('NOTE: not run on these engines: it damages files of the embedded stores')

test('chooses each document with the same probability, and all if there are no more', async () => {
  const documents = Array.from({ length: 18 }, (_, id): StoredDocument => ({ document: { id: id + 1 }, revision: 1n }))
  const build = {
    async *scan() {
      yield documents.slice(0, 7)
      yield documents.slice(7)
    },
  }
  assert.is((await sampleDocuments(build, 100)).length, 18)
  const times = new Map<unknown, number>()
  for (let round = 0; round < 3_000; round++) {
    for (const { document } of await sampleDocuments(build, 6))
      times.set(document['id'], (times.get(document['id']) ?? 0) + 1)
  }
  // Expected: 1,000 each, with a standard deviation of 26.
  assert.is(times.size, 18)
  for (const [id, count] of times) assert.ok(Math.abs(count - 1_000) < 200, `${String(id)} was chosen ${count} times`)
})

test.run()
