import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createdMany } from '../../api/harness/stones.ts'
import { verifiedServiceRoot } from '../../evidence/service-tree.ts'
import { mongoServer } from '../../mongo-server.ts'
import { Sites, type Site } from './moving.ts'

type Context = { sites: Sites }
const test = suite<Context>('the tree of a log')
test.before.each(async (context) => {
  context.sites = await Sites.open()
})
test.after.each(({ sites }) => sites.close())

type Kept = Awaited<ReturnType<typeof verifiedServiceRoot>>

/** Some stones more, and the tree then. */
async function grown(sites: Sites, site: Site, stones: number): Promise<Kept> {
  const service = await sites.serve(site)
  try {
    await createdMany(service.ann, stones)
    return await verifiedServiceRoot(service.installation)
  } finally {
    await service.stop()
  }
}

/** The tree in another place, or after what was done to it, begins as it was known. */
async function isKept(sites: Sites, site: Site, known: Kept): Promise<void> {
  const service = await sites.serve(site)
  try {
    assert.equal(await verifiedServiceRoot(service.installation, known.size), known)
  } finally {
    await service.stop()
  }
}

async function moved(sites: Sites, from: Site, to: Site): Promise<void> {
  const { code, err } = await sites.copy(from, to)
  if (code !== 0) throw new Error(err)
}

test('is the same in another folder, made anew, and restored from a backup', async ({ sites }) => {
  const [from, to] = [sites.sqlite('a'), sites.sqlite('b')]
  const known = await grown(sites, from, 300)
  await moved(sites, from, to)
  await isKept(sites, to, known)

  for (const name of readdirSync(to.dataDir)) if (name.startsWith('read-')) rmSync(join(to.dataDir, name))
  await isKept(sites, to, known)

  const larger = await grown(sites, to, 300)
  const settings = { DATA_DIR: to.dataDir, LOG_LEVEL: 'error' }
  const folder = join(sites.folder, 'backup')
  for (const words of [
    ['rebuild', 'tree'],
    ['backup', folder],
    ['restore', folder, '--replace'],
  ]) {
    const { code, err } = await sites.commands.run(words, settings)
    if (code !== 0) throw new Error(err)
  }
  await isKept(sites, to, larger)
})

const mongo = await mongoServer('trees move to EventStoreDB and MongoDB')
if (mongo !== undefined) {
  test('is the same on EventStoreDB and MongoDB', async ({ sites }) => {
    const from = sites.sqlite('a')
    const known = await grown(sites, from, 20)
    const to = await sites.servers(sites.masterKey(from))
    await moved(sites, from, to)
    await isKept(sites, to, known)
    await isKept(sites, to, await grown(sites, to, 10))
  })
}

test.run()
