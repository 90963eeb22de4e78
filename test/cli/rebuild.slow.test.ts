import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { countItems } from '../../src/maintenance/operation.ts'
import { READ_MODELS } from '../../src/wiring/consumers.ts'
import type { Document, ReadStore } from '../../src/stores/ports/read-store.ts'
import { areEmbedded } from '../engines.ts'
import { FROM_SOURCE } from '../from-source.ts'
import { openStores, type Stores } from '../open-stores.ts'
import { consumerOf, project } from '../projections/engine/inventory-on-disk.ts'
import { until } from '../until.ts'
import { CommandLine, type RunningProgram } from './command-line.ts'

type Context = { commands: CommandLine }
const test = suite<Context>('a rebuild by the command line')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
  await context.commands.json('user', 'add', 'a@example.com', '--password', 'right horse')
})
test.after.each(async ({ commands }) => {
  await commands.remove()
})

const { declaration } = diamonds

/** Kills itself after its first batch is written. */
const CRASHING_REBUILD = fileURLToPath(new URL('crashing-rebuild.ts', import.meta.url))
const FULL = process.env['ADAMANT_FULL'] === '1'
const ROUNDS = FULL ? 5 : 1
const STONES = FULL ? 6_000 : areEmbedded ? 400 : 100
/** More than one batch of the log, so that the process is killed between two batches. */
const KILLED_STONES = FULL ? 20_000 : 1_200
const MODELS = READ_MODELS.map(({ declaration: { name } }) => name)

type RebuildResult = { models: { model: string; events: number; seconds: number }[] }

async function importStones({ commands }: Context, stones: number): Promise<void> {
  const file = join(commands.folder, 'stones.csv')
  const lines = Array.from({ length: stones }, (_, index) => `A-${index + 1},Round,1`)
  writeFileSync(file, `sku,cutShape,carat\n${lines.join('\n')}\n`)
  await commands.json('import', file, '--user', 'a@example.com')
}

/** Opens the stores in this process, also while a service runs on them. */
async function withStoresOf<Result>(
  { commands }: Context,
  action: (stores: Stores) => Promise<Result>,
): Promise<Result> {
  const stores = await openStores(commands.dataDir)
  try {
    return await action(stores)
  } finally {
    await stores.close()
  }
}

/** The documents of the live build with keys 1 to `last`, sorted by id. */
async function liveDocuments(reads: ReadStore, last: number): Promise<Document[]> {
  const build = await reads.live(declaration)
  const found = await build.load(Array.from({ length: last }, (_, index) => index + 1))
  return found.map(({ document }) => document).toSorted((a, b) => Number(a['id']) - Number(b['id']))
}

/**
 * Compares the live build with a rebuild from the log, document by document. The live build first reads the rest of the log: a
 * score may have been appended after its last event, while the service stopped.
 */
const assertMatchesLog = (context: Context, last: number) =>
  withStoresOf(context, async (stores) => {
    await project(stores)
    const shown = await liveDocuments(stores.reads, last)
    await consumerOf(stores, diamonds).rebuild()
    const folded = await liveDocuments(stores.reads, last)
    assert.is(shown.length, folded.length)
    assert.equal(shown, folded)
  })

type Api = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly server: RunningProgram }

async function startServer({ commands }: Context): Promise<Api> {
  const server = commands.start(['serve', '--json'])
  const { url } = JSON.parse(await server.line()) as { url: string }
  const { client_id, client_secret } = await commands.json('client', 'add', 'tests')
  const credentials = { client_id: String(client_id), client_secret: String(client_secret) }
  const user = { grant_type: 'password', username: 'a@example.com', password: 'right horse' }
  const body = new URLSearchParams({ ...user, ...credentials })
  const response = await fetch(`${url}/api/oauth/v2/token`, { method: 'POST', body })
  const { access_token } = (await response.json()) as { access_token: string }
  return { url, server, headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' } }
}

async function stopServer({ server }: Api): Promise<void> {
  server.kill('SIGTERM')
  assert.is((await server.ended).code, 0)
}

/** A vendor that creates stones at one instance, and reads each in the list and by id right after the response. */
function vendorAt({ url, headers }: Api, name: string) {
  const faults: string[] = []
  let requests = 0
  let rounds = 0
  let last = 0
  const ending = new AbortController()

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    requests++
    const response = await fetch(`${url}${path}`, { headers, ...init })
    if (!response.ok) faults.push(`${path} was ${response.status}: ${await response.clone().text()}`)
    return response
  }

  async function round(): Promise<void> {
    const sku = `${name}-${requests}`
    const body = JSON.stringify({ sku, cutShape: 'Round', carat: 1 })
    const creation = await send('/v4/diamond', { method: 'POST', body })
    const isBehind = creation.headers.has('x-consistency')
    const { id } = (await creation.json()) as { id: number }
    await expectShown(id, `/v4/diamond/${id}`, (body) => (body as { id?: number }).id === id, isBehind)
    const inList = (body: unknown) => (body as { id: number }[]).some((stone) => stone.id === id)
    await expectShown(id, `/v4/diamond?f[sku]=${sku}`, inList, isBehind)
    rounds++
    last = Math.max(last, id)
  }

  /** A stone may be missing only while the service reports a lagging read model by `X-Consistency`. */
  async function expectShown(id: number, path: string, find: (body: unknown) => boolean, isBehind: boolean) {
    let mayBeBehind = isBehind
    await until(`${id} at ${path}`, async () => {
      const response = await send(path)
      mayBeBehind ||= response.headers.has('x-consistency')
      const body = await response.text()
      if (body !== '' && find(JSON.parse(body))) return true
      if (!mayBeBehind) faults.push(`${path} had no ${id}, but ${body}`)
      return !mayBeBehind
    })
  }

  // An exception is recorded as a fault, since this promise is only awaited at the end of the test.
  const done = (async () => {
    while (!ending.signal.aborted) await round().catch((error: unknown) => faults.push(String(error)))
  })()
  return {
    /** Resolves after one whole round that begins from now on, or at the first fault. */
    async nextRound() {
      const before = rounds
      await until('a round', () => rounds > before + 1 || faults.length > 0)
    },
    async stop() {
      ending.abort()
      await done
      return { faults, last }
    },
  }
}

test('causes no failed and no stale responses of two running instances during writes', async (context) => {
  await importStones(context, STONES)
  const servers = [await startServer(context), await startServer(context)]
  const vendors = servers.map((api, index) => vendorAt(api, `V${index}`))
  const before = await withStoresOf(context, ({ reads }) => reads.live(declaration))

  await Promise.all(vendors.map((vendor) => vendor.nextRound()))
  const seen: RebuildResult[] = []
  for (let round = 0; round < ROUNDS; round++)
    seen.push((await context.commands.json('rebuild', '--all')) as RebuildResult)
  await Promise.all(vendors.map((vendor) => vendor.nextRound()))

  const ended = await Promise.all(vendors.map((vendor) => vendor.stop()))
  assert.equal(
    ended.flatMap(({ faults }) => faults),
    [],
  )
  for (const { models } of seen) {
    assert.equal(
      models.map(({ model }) => model),
      MODELS,
    )
    assert.ok((models[0]?.events ?? 0) >= STONES)
  }
  const after = await withStoresOf(context, ({ reads }) => reads.live(declaration))
  assert.is.not(after.id, before.id)
  for (const api of servers) await stopServer(api)
  await assertMatchesLog(context, Math.max(...ended.map(({ last }) => last)))
})

test('that was killed is resumed by the next one, and is not promoted before it is complete', async (context) => {
  const stones = KILLED_STONES
  await importStones(context, stones)
  await stopServer(await startServer(context))
  const { build, reached } = await withStoresOf(context, async ({ reads }) => {
    const { code, err } = await context.commands.start(['rebuild', 'diamonds'], {}, [...FROM_SOURCE, CRASHING_REBUILD])
      .ended
    assert.is(code, null, err)
    const found = await reads.pendingBuild(declaration)
    assert.ok(found !== undefined && !found.isCaughtUp)
    assert.is.not((await reads.live(declaration)).id, found.id)
    return { build: found.id, reached: await (await reads.openPendingBuild(declaration, found)).checkpoint() }
  })
  assert.ok(reached !== undefined)

  await stopServer(await startServer(context))
  await withStoresOf(context, async ({ reads }) => {
    assert.is((await reads.pendingBuild(declaration))?.id, build)
    assert.is.not((await reads.live(declaration)).id, build)
  })
  const { code, out, err } = await context.commands.run(['rebuild', 'diamonds', '--json'])

  assert.is(code, 0, err)
  assert.match(err, 'resuming an interrupted rebuild of diamonds')
  const [{ events } = { events: 0 }] = (JSON.parse(out) as RebuildResult).models
  const all = await withStoresOf(context, ({ store }) =>
    countItems(store.readAll('start', { prefixes: diamonds.streamPrefixes })),
  )
  assert.ok(events < all, `${events} of ${all} events were folded again`)
  assert.is(await withStoresOf(context, async ({ reads }) => (await reads.live(declaration)).id), build)
  await assertMatchesLog(context, stones)
})

test('of an unknown model, or without a model, ends with 2 and lists the models', async ({ commands }) => {
  for (const words of [['rebuild', 'nonsense'], ['rebuild'], ['rebuild', '--all', 'diamonds']]) {
    const { code, err } = await commands.run(words)
    assert.is(code, 2)
    for (const name of MODELS) assert.match(err, name)
  }
})

test.run()
