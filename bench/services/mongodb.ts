import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFerretDB } from '../../test/ferretdb/server.ts'
import { databaseAt, dropDatabase } from '../../test/mongo-server.ts'

export type MongoServer = {
  /** Connection string of an empty database. */
  readonly database: string
  /** Drops the database, and stops the server if it was started here. */
  stop(): Promise<void>
}

const HELP = `The MongoDB cases need a server: set MONGODB_URL, or FERRETDB_BIN to the program of test/ferretdb, built with
  (cd test/ferretdb && go build -o FILE .)`

/** The server at MONGODB_URL, or else FerretDB on an empty folder. @throws Error if neither is configured */
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
