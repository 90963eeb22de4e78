import type { Document } from 'mongodb'
import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openMongo } from '../../../src/stores/mongodb/mongodb.ts'
import { at, diamond, diamonds, idsIn, letter, put } from '../../contract/read-store/model.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { WRITES } from '../../mongo-proxy/rules.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('read and write concerns')
const test = suite('a call on MongoDB')

/** Connection string parameters with less durability than docs/operations.md promises. */
const WEAKER = 'readConcernLevel=local&journal=false&w=1&wtimeoutMS=0&retryWrites=false'
/** Milliseconds that the primary may wait for a majority; the caller's deadline is later. */
const MAX_WTIMEOUT_MS = 30_000

/** Uses each store as the service does. @returns the commands that the server received */
async function commandsSent(parameters: string): Promise<Document[]> {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  const commands: Document[] = []
  proxy.rule((_name, body) => void commands.push(body))
  const { reads, vault, files, close } = openMongo(`${proxy.address}${parameters}`)
  try {
    const build = await reads.live(diamonds)
    await build.write([put(diamond(1))], at(1), [letter('diamond-9', 1)])
    assert.equal(await idsIn(reads), [1])
    await (await reads.acquireLease(diamonds))?.release()
    const entry = { digest: 'aa', sealed: Buffer.alloc(20), createdAt: 1, expiresAt: 2, receipt: null }
    await vault.put(entry, [{ kind: 'link', sealed: Buffer.alloc(20), dueAt: 1 }])
    await vault.readSecret('aa')
    await vault.end([{ digest: 'aa' }])
    const incoming = await files.receive()
    await incoming.write(randomBytes(1_000))
    const { digest, release } = await incoming.keep()
    release()
    for await (const _bytes of (await files.readFile(digest)) ?? []) void _bytes
  } finally {
    await close()
    await proxy.stop()
    await server?.drop(address)
  }
  return commands
}

for (const parameters of ['', `?${WEAKER}`]) {
  test(`requests a journaled majority${parameters && ', even if the connection string requests less'}`, async () => {
    const commands = await commandsSent(parameters)
    const names = new Set(commands.map((body) => Object.keys(body)[0] ?? ''))
    for (const name of ['insert', 'update', 'delete', 'find']) assert.ok(names.has(name), name)
    for (const body of commands) {
      const [name = ''] = Object.keys(body)
      if (WRITES.has(name) && name !== 'createIndexes') {
        const { w, j, wtimeout } = body['writeConcern'] as Document
        assert.equal([w, j], ['majority', true], name)
        assert.ok(wtimeout > 0 && wtimeout < MAX_WTIMEOUT_MS, `${name} waits ${wtimeout} ms for a majority`)
      }
      if (name === 'find') assert.ok(['majority', 'linearizable'].includes(body['readConcern']?.level), name)
    }
  })
}

if (server !== undefined) test.run()
