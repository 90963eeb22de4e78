import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFerretDB } from '../../test/ferretdb/server.ts'
import { databaseAt, dropDatabase } from '../../test/mongo-server.ts'

export type MongoServer = {
  /** The address of an empty database. */
  readonly database: string
  /** Drops the database, and ends the server where it was started here. */
  stop(): Promise<void>
}

const HELP = `The cases of MongoDB need a server: MONGODB_URL names one, or FERRETDB_BIN the program of test/ferretdb, built by
  (cd test/ferretdb && go build -o FILE .)`

/** The server at MONGODB_URL, else FerretDB on an empty folder. @throws Error where there is neither */
export async function startMongo(): Promise<MongoServer> {
  const name = `bench_${randomUUID().slice(0, 8)}`
  const given = process.env['MONGODB_URL']
  if (given) {
    const database = databaseAt(given, name)
    return { database, stop: () => dropDatabase(database) }
  }
  if (!process.env['FERRETDB_BIN']) throw new Error(HELP)
  const folder = await mkdtemp(join(tmpdir(), 'adamant-bench-mongo-'))
  const server = await startFerretDB(folder)
  return {
    database: databaseAt(server.address, name),
    async stop() {
      await server.stop()
      await rm(folder, { recursive: true })
    },
  }
}
