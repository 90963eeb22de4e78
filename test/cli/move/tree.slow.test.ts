import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createdMany } from '../../api/harness/stones.ts'
import { verifiedServiceRoot } from '../../evidence/service-tree.ts'
import { mongoServer } from '../../mongo-server.ts'
import { Sites, type Site } from './moving.ts'

type Context = { sites: Sites }
const test = suite<Context>('the Merkle tree of a log')
test.before.each(async (context) => {
  context.sites = await Sites.open()
})
test.after.each(({ sites }) => sites.close())

type TreeRoot = Awaited<ReturnType<typeof verifiedServiceRoot>>

/** Adds stones. @returns size and root of the tree afterwards */
async function addStones(sites: Sites, site: Site, stones: number): Promise<TreeRoot> {
  const service = await sites.serve(site)
  try {
    await createdMany(service.ann, stones)
    return await verifiedServiceRoot(service.installation)
  } finally {
    await service.stop()
  }
}

/** The tree of a service on this site has the same root at the known size. */
async function assertRootUnchanged(sites: Sites, site: Site, known: TreeRoot): Promise<void> {
  const service = await sites.serve(site)
  try {
    assert.equal(await verifiedServiceRoot(service.installation, known.size), known)
  } finally {
    await service.stop()
  }
}

async function moveInstallation(sites: Sites, from: Site, to: Site): Promise<void> {
  const { code, err } = await sites.copy(from, to)
  if (code !== 0) throw new Error(err)
}

test('stays the same after a move, a rebuild and a restore from a backup', async ({ sites }) => {
  const [from, to] = [sites.sqlite('a'), sites.sqlite('b')]
  const known = await addStones(sites, from, 300)
  await moveInstallation(sites, from, to)
  await assertRootUnchanged(sites, to, known)

  for (const name of readdirSync(to.dataDir)) if (name.startsWith('read-')) rmSync(join(to.dataDir, name))
  await assertRootUnchanged(sites, to, known)

  const larger = await addStones(sites, to, 300)
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
  await assertRootUnchanged(sites, to, larger)
})

const mongo = await mongoServer('trees move to EventStoreDB and MongoDB')
if (mongo !== undefined) {
  test('stays the same after a move to EventStoreDB and MongoDB', async ({ sites }) => {
    const from = sites.sqlite('a')
    const known = await addStones(sites, from, 20)
    const to = await sites.servers(sites.masterKey(from))
    await moveInstallation(sites, from, to)
    await assertRootUnchanged(sites, to, known)
    await assertRootUnchanged(sites, to, await addStones(sites, to, 10))
  })
}

test.run()
