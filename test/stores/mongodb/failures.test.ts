import { MongoServerError } from 'mongodb'
import { createServer, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { StoreUnavailable } from '../../../src/stores/event-store.ts'
import { BadAddress, connect } from '../../../src/stores/mongodb/connection.ts'
import { failureOf } from '../../../src/stores/mongodb/failure.ts'

const test = suite('a call on MongoDB')

const failure = (action: Promise<unknown>) =>
  action.then(
    () => undefined,
    (error: unknown) => error,
  )

test('is unavailable where nobody listens, names the server, and not the password', async () => {
  const mongo = connect('mongodb://user:hunter2@127.0.0.1:1/adamant')
  const error = await failure(mongo.call(() => mongo.db.command({ ping: 1 })))
  assert.instance(error, StoreUnavailable)
  assert.match(String(error), '127.0.0.1:1')
  assert.not.match(String(error), 'hunter2')
  await mongo.close()
})

test('is unavailable at its deadline where somebody listens and never answers', async () => {
  const sockets = new Set<Socket>()
  const silent: Server = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const mongo = connect(`mongodb://127.0.0.1:${port}/adamant`)
  const started = performance.now()
  assert.instance(await failure(mongo.call(() => mongo.db.command({ ping: 1 }))), StoreUnavailable)
  assert.ok(performance.now() - started < 10_000)
  await mongo.close()
  for (const socket of sockets) socket.destroy()
  silent.close()
})

test('is unavailable after closing', async () => {
  const mongo = connect('mongodb://127.0.0.1:1/adamant')
  await mongo.close()
  assert.instance(await failure(mongo.call(() => mongo.db.command({ ping: 1 }))), StoreUnavailable)
})

test('passes what the server says passes, and shows what is ours to mend', () => {
  const said = (code: number) => new MongoServerError({ message: 'said', code })
  for (const code of [91, 189, 10107, 13435, 14031, 13]) {
    assert.instance(failureOf(said(code), 'host'), StoreUnavailable, String(code))
  }
  for (const code of [2, 9, 11000]) assert.instance(failureOf(said(code), 'host'), MongoServerError, String(code))
  assert.instance(failureOf(new TypeError('a fault of ours'), 'host'), TypeError)
})

test('has an address that can be understood, or none is made', () => {
  for (const address of ['mongodb://host:port/db', 'http://host/db', 'mongodb://host/db?w=majority&unknown=1']) {
    assert.throws(
      () => connect(address),
      (error: unknown) => error instanceof BadAddress,
      address,
    )
  }
})

test.run()
