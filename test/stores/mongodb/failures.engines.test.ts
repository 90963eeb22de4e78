import {
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  type BulkWriteResult,
  type TopologyDescription,
} from 'mongodb'
import { createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/ports/event-store.ts'
import { connect } from '../../../src/stores/mongodb/connection.ts'
import { InvalidConnectionString } from '../../../src/stores/ports/connection-string.ts'
import { toStoreUnavailable, isDuplicate } from '../../../src/stores/mongodb/failure.ts'
import { waitFor } from '../../until.ts'

const test = suite('a call on MongoDB')

const failure = (action: Promise<unknown>) =>
  action.then(
    () => undefined,
    (error: unknown) => error,
  )

test('is unavailable if no server listens, with an error that names the server but not the password', async () => {
  const mongo = connect('mongodb://user:hunter2@127.0.0.1:1/adamant')
  const error = await failure(mongo.call(() => mongo.db.command({ ping: 1 })))
  assert.instance(error, StoreUnavailable)
  assert.match(String(error), '127.0.0.1:1')
  assert.not.match(String(error), 'hunter2')
  await mongo.close()
})

test('is unavailable at its deadline if the server never responds', async () => {
  const sockets = new Set<Socket>()
  const silent: Server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const mongo = connect(`mongodb://127.0.0.1:${port}/adamant`)
  const refused = failure(mongo.call(() => mongo.db.command({ ping: 1 })))
  assert.instance(await waitFor('the deadline', refused), StoreUnavailable)
  await mongo.close()
  for (const socket of sockets) socket.destroy()
  silent.close()
})

test('is unavailable after closing', async () => {
  const mongo = connect('mongodb://127.0.0.1:1/adamant')
  await mongo.close()
  assert.instance(await failure(mongo.call(() => mongo.db.command({ ping: 1 }))), StoreUnavailable)
})

const said = (code: number) => new MongoServerError({ message: 'said', code })
const NO_FAULTS = { getWriteConcernError: () => undefined }

/** The driver's error for a bulk: it wraps an error of the driver or the server's errors for documents. */
const bulk = (error: unknown, concern?: number) =>
  new MongoBulkWriteError(
    error as MongoNetworkError,
    {
      ...NO_FAULTS,
      ...(concern !== undefined && { getWriteConcernError: () => ({ code: concern }) }),
    } as unknown as BulkWriteResult,
  )
const faults = (...codes: number[]) => ({
  message: 'said',
  code: codes[0],
  writeErrors: codes.map((code) => ({ code })),
})

const UNAVAILABLE = [
  1, 6, 7, 13, 18, 43, 50, 64, 89, 91, 100, 133, 134, 189, 211, 262, 365, 9001, 10107, 11600, 11601, 11602, 13435,
  13436, 14031,
]

test('is unavailable for transient errors of the server and fails with the original error otherwise', () => {
  for (const code of UNAVAILABLE) {
    assert.instance(toStoreUnavailable(said(code), 'host'), StoreUnavailable, String(code))
    assert.instance(toStoreUnavailable(bulk(faults(code)), 'host'), StoreUnavailable, `${code} of a document`)
    assert.instance(toStoreUnavailable(bulk(said(code)), 'host'), StoreUnavailable, `${code} of a bulk`)
  }
  for (const code of [2, 9, 11000]) {
    assert.instance(toStoreUnavailable(said(code), 'host'), MongoServerError, String(code))
    assert.instance(toStoreUnavailable(bulk(faults(code)), 'host'), MongoServerError, `${code} of a document`)
  }
  assert.instance(toStoreUnavailable(new TypeError('a fault of ours'), 'host'), TypeError)
})

test('is unavailable if the connection breaks during a bulk, and fails with the original error if the bulk is invalid', () => {
  assert.instance(toStoreUnavailable(bulk(new MongoNetworkError('cut')), 'host'), StoreUnavailable)
  assert.instance(
    toStoreUnavailable(bulk(new MongoServerSelectionError('none', {} as TopologyDescription)), 'host'),
    StoreUnavailable,
  )
  assert.instance(toStoreUnavailable(bulk(new MongoInvalidArgumentError('ours')), 'host'), MongoBulkWriteError)
})

test('counts a failed bulk as duplicate only if all its errors are duplicate keys', () => {
  assert.is(isDuplicate(bulk(faults(11000, 11000))), true)
  for (const mixed of [bulk(faults(11000, 14031)), bulk(faults(11000), 64)]) {
    assert.is(isDuplicate(mixed), false)
    assert.instance(toStoreUnavailable(mixed, 'host'), StoreUnavailable)
  }
  const faulty = bulk(faults(11000, 2))
  assert.is(isDuplicate(faulty), false)
  assert.is(toStoreUnavailable(faulty, 'host'), faulty)
})

test('is not created for an invalid connection string', () => {
  for (const address of ['mongodb://host:port/db', 'http://host/db', 'mongodb://host/db?w=majority&unknown=1']) {
    assert.throws(
      () => connect(address),
      (error: unknown) => error instanceof InvalidConnectionString,
      address,
    )
  }
})

test.run()
