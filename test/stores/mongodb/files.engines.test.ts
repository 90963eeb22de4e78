import { GridFSBucket } from 'mongodb'
import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { BytesMissing, type FileStore } from '../../../src/stores/ports/file-store.ts'
import { connect, type MongoDatabase } from '../../../src/stores/mongodb/connection.ts'
import { createGridFileStore } from '../../../src/stores/mongodb/files.ts'
import { all } from '../../contract/event-store/given.ts'
import { filesContract } from '../../contract/files.ts'
import { mongoServers } from '../../mongo-server.ts'

for (const server of await mongoServers('files in GridFS')) {
  filesContract(`files in GridFS: ${server.name}`, async () => {
    const address = server.newDatabase()
    const connections: MongoDatabase[] = []
    return {
      connect() {
        const mongo = connect(address)
        connections.push(mongo)
        return createGridFileStore(mongo)
      },
      async clean() {
        for (const mongo of connections) await mongo.close()
        await server.drop(address)
      },
    }
  })

  type Given = { address: string; mongo: MongoDatabase; files: FileStore }
  const test = suite<Given>(`a file in GridFS: ${server.name}`)
  test.before.each((given) => {
    given.address = server.newDatabase()
    given.mongo = connect(given.address)
    given.files = createGridFileStore(given.mongo)
  })
  test.after.each(async ({ address, mongo, files }) => {
    await files.close()
    await mongo.close()
    await server.drop(address)
  })

  const chunksIn = ({ db }: MongoDatabase) => db.collection('fs.chunks').countDocuments()

  test('can be read with any GridFS client under its digest', async ({ mongo, files }) => {
    const bytes = randomBytes(600_000)
    const { digest, release } = await keep(files, bytes)
    release()
    const read = new GridFSBucket(mongo.db).openDownloadStreamByName(digest)
    assert.ok(bytes.equals(Buffer.concat(await read.toArray())))
    const file = await mongo.db.collection('fs.files').findOne({ filename: digest })
    assert.equal([file?.['length'], file?.['chunkSize']], [600_000, 255 * 1024])
    assert.is(await chunksIn(mongo), 3)
  })

  test('that lost chunks is not read', async ({ mongo, files }) => {
    const { digest, release } = await keep(files, randomBytes(600_000))
    release()
    await mongo.db.collection('fs.chunks').deleteOne({ n: 1 })
    const refused = await files.readFile(digest, { expectedBytes: 600_000 }).catch((error: unknown) => error)
    assert.instance(refused, BytesMissing)
  })

  test('keeps its chunks for 60 s after its removal, for readers', async ({ mongo, files }) => {
    const { digest, release } = await keep(files, randomBytes(300_000))
    release()
    assert.is(await files.remove(digest, (await files.readTouchToken(digest)) ?? ''), 'removed')
    const [leftover] = await all(files.temporaryFiles())
    assert.is(leftover?.abandonedAfterMs, 60_000)
    assert.is(await chunksIn(mongo), 2)
    assert.is(leftover && (await files.removeTemporaryFile(leftover)), false)
    assert.is(await chunksIn(mongo), 0)
    assert.is(await mongo.db.collection('fs.files').countDocuments(), 0)
  })

  test('cannot be completed after another process removed its upload as abandoned', async ({ mongo, files }) => {
    const incoming = await files.receive()
    await incoming.write(randomBytes(300_000))
    for (const leftover of await all(files.temporaryFiles())) assert.ok(await files.removeTemporaryFile(leftover))
    assert.is(await chunksIn(mongo), 0)
    const late = await incoming.keep().catch((error: unknown) => error)
    assert.instance(late, StoreUnavailable)
    assert.equal(await all(files.list()), [])
    await incoming.discard()
    assert.is(await chunksIn(mongo), 0)
  })

  test('survives the removal of an upload record that outlived its upload', async ({ mongo, files }) => {
    const { digest, release } = await keep(files, randomBytes(1_000))
    release()
    const file = await mongo.db.collection('fs.files').findOne({ filename: digest })
    if (file === null) return assert.unreachable('the file is not there')
    await mongo.db.collection('fs.uploads').insertOne({ _id: file._id, touched: 1 })
    for (const leftover of await all(files.temporaryFiles()))
      assert.is(await files.removeTemporaryFile(leftover), false)
    assert.ok(await files.readFile(digest))
    assert.is(await mongo.db.collection('fs.uploads').countDocuments(), 0)
  })

  test.run()

  async function keep(files: FileStore, bytes: Buffer) {
    const incoming = await files.receive()
    await incoming.write(bytes)
    return incoming.keep()
  }
}
