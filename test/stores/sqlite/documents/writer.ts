import { openSqliteReadStore } from '../../../../src/stores/sqlite/documents.ts'
import { at, diamond, diamonds, put, remove } from '../../../contract/read-store/model.ts'

/**
 * A program that writes to the read models in a folder until it is killed. At checkpoint n there are 10 n documents plus
 * document 1, whose text is n. Document 2 exists if n is odd.
 */
const build = await openSqliteReadStore(process.argv[2] ?? '').live(diamonds)
for (let n = 1; ; n++) {
  const added = Array.from({ length: 10 }, (_, index) => put(diamond(n * 10 + index, { isColored: index % 2 })))
  const changed = put(diamond(1, { v4: String(n), isPublished: n % 2 }), BigInt(n))
  const passing = n % 2 === 1 ? put(diamond(2), BigInt(n)) : remove(2, BigInt(n))
  await build.write([...added, changed, passing], at(n))
  await new Promise<void>((done) => setImmediate(done))
}
