import Database from 'better-sqlite3'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { checkpointModelOf } from '../../../src/projections/engine/reaction.ts'
import { scoring } from '../../../src/reactions/scoring/scoring.ts'
import { comparePositions } from '../../../src/stores/ports/event-store.ts'
import { READ_MODELS } from '../../../src/wiring/consumers.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import { attached, smallPdf } from '../../api/harness/form.ts'
import { attachModel, modelFile } from '../../api/harness/models.ts'
import { expect } from '../../api/harness/request.ts'
import { isScored } from '../../api/harness/scored.ts'
import { newSender, reveal, shared } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { created, createdMany, shown } from '../../api/harness/stones.ts'
import { until } from '../../until.ts'

/** The files of an installation with data of every kind on the embedded stores, and copies of it to damage. */
export class InstallationFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'adamant-verify-'))
  readonly whole = join(this.#folder, 'whole')
  #copies = 0

  /** Creates diamonds 1 to 4: 1 patched, certified and scored, 4 with a 3D model. Shares a pending and a revealed secret. */
  async fill(): Promise<void> {
    const service = await startService({ dataDir: this.whole, scored: true })
    const { ann, url, installation } = service
    const { id } = await created(ann, { sku: 'FIRST' })
    const last = (await createdMany(ann, 3)).at(-1)?.id ?? 0
    expect(201, await attachModel(ann, last, modelFile('Round', 'Good', 1)))
    expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 1.25, price: 900 }))
    await attached(ann, id, smallPdf(2_000))
    const sender = await newSender(installation)
    await shared(url, sender, { secret: 'waits' })
    const { secret_key: read } = await shared(url, sender, { secret: 'is read' })
    expect(200, await reveal(url, read))
    // A service that is stopped during a computation may run out of time to sign a checkpoint.
    await until('scores', async () => isScored(shown(await ann.get(`/v4/diamond/${last}`))))
    await until('the consumers to catch up', () => hasCaughtUp(installation))
    await service.stop()
    assert.ok(isSigned(this.whole), 'no checkpoint was signed when the service stopped')
  }

  /** Copies the installation. @returns the folder of the copy */
  copy(): string {
    const folder = join(this.#folder, `copy-${++this.#copies}`)
    cpSync(this.whole, folder, { recursive: true })
    return folder
  }

  drop(copy: string): void {
    rmSync(copy, { recursive: true, force: true })
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Opens a database file of a closed installation. @param begins prefix of the file name, such as `read-tree-` */
export function inFile<Result>(folder: string, begins: string, work: (db: Database.Database) => Result): Result {
  const name = readdirSync(folder).find((one) => one.startsWith(begins) && one.endsWith('.db'))
  if (name === undefined) throw new Error(`no file ${begins}*.db in ${folder}`)
  const db = new Database(join(folder, name))
  try {
    return work(db)
  } finally {
    db.close()
  }
}

async function hasCaughtUp({ store, reads }: Installation): Promise<boolean> {
  const head = await store.head()
  for (const declaration of [...READ_MODELS.map((model) => model.declaration), checkpointModelOf(scoring.name)]) {
    if (comparePositions(await (await reads.model(declaration)).position(), head) < 0) return false
  }
  return true
}

const isSigned = (folder: string) =>
  inFile(
    folder,
    'events',
    (db) => db.prepare(`SELECT 1 FROM events WHERE type = 'CheckpointSigned'`).get() !== undefined,
  )

/** The path of the only report file. */
export const certificateIn = (folder: string): string => fileIn(folder, true)

/** The path of the only 3D model file. */
export const modelIn = (folder: string): string => fileIn(folder, false)

function fileIn(folder: string, isReport: boolean): string {
  const files = join(folder, 'files')
  const name = readdirSync(files, { recursive: true, encoding: 'utf8' })
    .filter((one) => /[0-9a-f]{64}$/.test(one))
    .find((one) => readFileSync(join(files, one)).subarray(0, 5).equals(Buffer.from('%PDF-')) === isReport)
  assert.ok(name)
  return join(files, name)
}
