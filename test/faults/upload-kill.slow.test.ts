import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Vendor } from '../api/harness/account.ts'
import { attached, pathOf, smallPdf, type ShownCertification } from '../api/harness/form.ts'
import { expect, request } from '../api/harness/request.ts'
import { created, shown } from '../api/harness/stones.ts'
import { rounds } from '../rounds.ts'
import { randomFor, type SeededRandom } from '../seeded.ts'
import { until } from '../until.ts'
import { prepareDataFolder } from './prepared-data-folder.ts'
import { startServer } from './server-process.ts'

const ROUNDS = rounds(2, 25)
const UPLOADERS = 6

const test = suite('a service that is killed during uploads')

const digestOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

/** Uploads reports of random sizes until the service is killed, and records the acknowledged ones. */
async function uploadOn(
  vendor: Vendor,
  diamond: number,
  random: SeededRandom,
  acknowledged: Map<number, string>,
): Promise<void> {
  for (;;) {
    const pdf = smallPdf(1_000 + random.below(2_000_000))
    try {
      const { id } = await attached(vendor, diamond, pdf)
      acknowledged.set(id, digestOf(pdf))
    } catch (error) {
      if (error instanceof assert.Assertion) throw error
      return
    }
  }
}

const certificationsOf = async (vendor: Vendor, diamond: number) =>
  shown(expect(200, await vendor.get(`/v4/diamond/${diamond}`)))['certifications'] as readonly ShownCertification[]

/** All files below the folder `files`, except its identity. */
const filesIn = (dataDir: string) =>
  readdirSync(join(dataDir, 'files'), { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isFile() && entry.name !== 'identity' ? [entry.name] : []))
    .toSorted()

test(`has every acknowledged report byte for byte and no other file after ${ROUNDS} kills`, async () => {
  const { dataDir, ann, clean } = await prepareDataFolder()
  const acknowledged = new Map<number, string>()
  let server = await startServer(dataDir, { LOG_LEVEL: 'warn' })
  try {
    const { id } = await created(ann(server.url))
    for (let round = 0; round < ROUNDS; round++) {
      const vendor = ann(server.url)
      const random = randomFor(`upload-kill ${round}`)
      const killedAfter = acknowledged.size + 1 + random.below(2 * UPLOADERS)
      const uploading = Promise.all(
        Array.from({ length: UPLOADERS }, (_, n) =>
          uploadOn(vendor, id, randomFor(`upload-kill ${round} ${n}`), acknowledged),
        ),
      )
      await until('uploads', () => acknowledged.size >= killedAfter)
      await server.kill()
      await uploading
      server = await startServer(dataDir, { LOG_LEVEL: 'warn' })
      const certifications = await certificationsOf(ann(server.url), id)
      const known = new Map(certifications.map((certification) => [certification.id, certification]))
      for (const [certification, digest] of acknowledged) {
        const response = await request(server.url, { path: pathOf(known.get(certification)?.file ?? null) })
        assert.is(digestOf(response.text), digest, `certification ${certification} in round ${round}`)
      }
    }
    const all = await certificationsOf(ann(server.url), id)
    const wanted = await Promise.all(
      all.map(async ({ file }) => digestOf((await request(server.url, { path: pathOf(file) })).text)),
    )
    await until('other uploads to be deleted', () => filesIn(dataDir).length <= wanted.length)
    assert.equal(filesIn(dataDir), wanted.toSorted())
    console.log(`NOTE ${acknowledged.size} uploads were acknowledged, ${all.length} are stored, after ${ROUNDS} kills`)
  } finally {
    await server.kill()
    clean()
  }
})

test.run()
