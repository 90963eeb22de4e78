import type { Document } from 'mongodb'
import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger } from '../../../src/runtime/logger.ts'
import { openMongo } from '../../../src/stores/mongodb/mongodb.ts'
import { at, diamond, diamonds, idsIn, letter, put } from '../../contract/read-store/model.ts'
import { startMongoProxy } from '../../mongo-proxy/proxy.ts'
import { WRITES } from '../../mongo-proxy/rules.ts'
import { mongoServer } from '../../mongo-server.ts'

const server = await mongoServer('what MongoDB is asked to promise')
const test = suite('a call on MongoDB')

/** What makes an address promise less than operations.md does. */
const WEAKER = 'readConcernLevel=local&journal=false&w=1&wtimeoutMS=0&retryWrites=false'
/** How long the primary may wait for a majority, so that the caller's deadline comes later. */
const MOST = 30_000

/** Does with each store what a service does, and sees what the server is asked. */
async function askedOf(parameters: string): Promise<Document[]> {
  const address = server?.newDatabase() ?? ''
  const proxy = await startMongoProxy(address)
  const asked: Document[] = []
  proxy.rule((_name, body) => void asked.push(body))
  const { reads, vault, files, close } = openMongo(`${proxy.address}${parameters}`, createLogger('silent'))
  try {
    const build = await reads.live(diamonds)
    await build.write([put(diamond(1))], at(1), [letter('diamond-9', 1)])
    assert.equal(await idsIn(reads), [1])
    await (await reads.acquireLease(diamonds))?.release()
    const entry = { digest: 'aa', sealed: Buffer.alloc(20), createdAt: 1, expiresAt: 2, receipt: null }
    await vault.put(entry, [{ kind: 'link', sealed: Buffer.alloc(20), dueAt: 1 }])
    await vault.read('aa')
    await vault.end([{ digest: 'aa' }])
    const incoming = await files.receive()
    await incoming.write(randomBytes(1_000))
    const { digest, release } = await incoming.keep()
    release()
    for await (const _bytes of (await files.read(digest)) ?? []) void _bytes
  } finally {
    await close()
    await proxy.stop()
    await server?.drop(address)
  }
  return asked
}

for (const parameters of ['', `?${WEAKER}`]) {
  test(`asks for a majority and its journal${parameters && ', though its address says otherwise'}`, async () => {
    const asked = await askedOf(parameters)
    const names = new Set(asked.map((body) => Object.keys(body)[0] ?? ''))
    for (const name of ['insert', 'update', 'delete', 'find']) assert.ok(names.has(name), name)
    for (const body of asked) {
      const [name = ''] = Object.keys(body)
      if (WRITES.has(name) && name !== 'createIndexes') {
        const { w, j, wtimeout } = body['writeConcern'] as Document
        assert.equal([w, j], ['majority', true], name)
        assert.ok(wtimeout > 0 && wtimeout < MOST, `${name} waits ${wtimeout} ms for a majority`)
      }
      if (name === 'find') assert.ok(['majority', 'linearizable'].includes(body['readConcern']?.level), name)
    }
  })
}

if (server !== undefined) test.run()
