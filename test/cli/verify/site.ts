import Database from 'better-sqlite3'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { tree } from '../../../src/projections/tree/tree.ts'
import { comparePositions } from '../../../src/stores/ports/event-store.ts'
import { attached, smallPdf } from '../../api/harness/form.ts'
import { attachModel, modelFile } from '../../api/harness/models.ts'
import { expect } from '../../api/harness/request.ts'
import { newSender, reveal, shared } from '../../api/harness/secrets.ts'
import { startService } from '../../api/harness/service.ts'
import { created, createdMany, shown } from '../../api/harness/stones.ts'
import { until } from '../../until.ts'

/** The embedded files of an installation that did a little of everything, and copies of it to be damaged. */
export class Site {
  readonly #folder = mkdtempSync(join(tmpdir(), 'adamant-verify-'))
  readonly whole = join(this.#folder, 'whole')
  #copies = 0

  /** Stones 1 to 4, the first changed, certified and scored, the last with a body of its own; one secret that waits, and one that was read. */
  async fill(): Promise<void> {
    const service = await startService({ dataDir: this.whole, scored: true })
    const { ann, url, installation } = service
    const { id } = await created(ann, { sku: 'FIRST' })
    const last = (await createdMany(ann, 3)).at(-1)
    expect(201, await attachModel(ann, last?.id ?? 0, modelFile('Round', 'Good', 1)))
    expect(200, await ann.patch(`/v4/diamond/${id}`, { carat: 1.25, price: 900 }))
    await attached(ann, id, smallPdf(2_000))
    const sender = await newSender(installation)
    await shared(url, sender, { secret: 'waits' })
    const { secret_key: read } = await shared(url, sender, { secret: 'is read' })
    expect(200, await reveal(url, read))
    await until('scores', async () => shown(await ann.get(`/v4/diamond/${id}`))['scores'] !== null)
    // Nobody waits for the tree: what came last is in it half a second later.
    const inTree = await installation.reads.model(tree.declaration)
    const head = await installation.store.head()
    await until('the tree', async () => comparePositions(await inTree.position(), head) >= 0)
    await service.stop()
  }

  /** A copy of it, closed. */
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

/** Opens one of an installation's files behind its back. @param begins the file's name begins so, such as `read-tree-` */
export function inFile<Result>(folder: string, begins: string, work: (db: Database.Database) => Result): Result {
  const name = readdirSync(folder).find((one) => one.startsWith(begins) && one.endsWith('.db'))
  if (name === undefined) throw new Error(`there is no ${begins}... in ${folder}`)
  const db = new Database(join(folder, name))
  try {
    return work(db)
  } finally {
    db.close()
  }
}

/** The path of the one report that the installation keeps. */
export const certificateIn = (folder: string): string => fileIn(folder, true)

/** The path of the one 3D file that it keeps. */
export const modelIn = (folder: string): string => fileIn(folder, false)

function fileIn(folder: string, isReport: boolean): string {
  const files = join(folder, 'files')
  const name = readdirSync(files, { recursive: true, encoding: 'utf8' })
    .filter((one) => /[0-9a-f]{64}$/.test(one))
    .find((one) => readFileSync(join(files, one)).subarray(0, 5).equals(Buffer.from('%PDF-')) === isReport)
  assert.ok(name)
  return join(files, name)
}
