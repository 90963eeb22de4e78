import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FERRETDB, startFerretDB } from './ferretdb/server.ts'

/** A server for a test file's suites; each suite has its own database. A server started here stops with the process. */
export type MongoServer = {
  readonly name: string
  readonly isFerretDB: boolean
  /** The address of a new, empty database. */
  newDatabase(): string
  drop(address: string): Promise<void>
}

/**
 * The server at MONGODB_URL, or a FerretDB that is started for this file. If there is neither, prints that the suites
 * are skipped.
 * @param suites names the suites in the output
 */
export async function mongoServer(suites: string): Promise<MongoServer | undefined> {
  const url = await mongoUrl()
  if (url === undefined) {
    console.log(`LEFT OUT: ${suites}: neither MONGODB_URL nor FERRETDB_BIN is set`)
    return undefined
  }
  const server = serverAt(url, process.env['MONGODB_URL'] ? 'the server at MONGODB_URL' : 'FerretDB')
  const log = process.env['ENGINES']?.startsWith('esdb') === true ? "EventStoreDB's peer and " : ''
  console.log(`NOTE: ${suites}: on ${log}${server.name}`)
  return server
}

/**
 * The servers for a port's contract: the server of the other suites, and the MongoDB container that the test runner
 * starts if Docker is available (`CONTAINER`).
 */
export async function mongoServers(suites: string): Promise<readonly MongoServer[]> {
  const server = await mongoServer(suites)
  const servers = server === undefined ? [] : [server]
  const container = process.env[MONGO_CONTAINER_VARIABLE]
  if (container === undefined) {
    console.log(`NOTE: ${suites}: not on MongoDB in a container, since no Docker answers`)
    return servers
  }
  const { name, url } = JSON.parse(container) as { readonly name: string; readonly url: string }
  console.log(`NOTE: ${suites}: on ${name} in a container, too`)
  return [...servers, serverAt(url, name)]
}

/** The environment variable with the name and the address of the MongoDB container, as JSON. */
export const MONGO_CONTAINER_VARIABLE = 'ADAMANT_TEST_MONGODB'

const serverAt = (url: string, name: string): MongoServer => ({
  name,
  isFerretDB: name === 'FerretDB',
  newDatabase: () => databaseAt(url, `test_${randomUUID().slice(0, 8)}`),
  drop: dropDatabase,
})

let started: Promise<string> | undefined

/** The address of this process's server. A server started here stops with the process. */
export async function mongoUrl(): Promise<string | undefined> {
  const given = process.env['MONGODB_URL']
  if (given) return given
  if (FERRETDB === undefined) return undefined
  started ??= start()
  return started
}

async function start(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-ferretdb-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return (await startFerretDB(folder)).address
}

export async function dropDatabase(address: string): Promise<void> {
  const { MongoClient } = await import('mongodb')
  const client = new MongoClient(address)
  try {
    await client.db().dropDatabase()
  } finally {
    await client.close()
  }
}

/** The address of a database on the same server. */
export const databaseAt = (url: string, name: string): string =>
  url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`)
