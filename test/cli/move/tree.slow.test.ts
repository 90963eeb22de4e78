import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createdMany } from '../../api/harness/stones.ts'
import { verifiedServiceRoot } from '../../evidence/service-tree.ts'
import { mongoServer } from '../../mongo-server.ts'
import { MoveFixture, type InstallationConfig } from './moving.ts'

type Context = { fixture: MoveFixture }
const test = suite<Context>('the Merkle tree of a log')
test.before.each(async (context) => {
  context.fixture = await MoveFixture.open()
})
test.after.each(({ fixture }) => fixture.close())

type TreeRoot = Awaited<ReturnType<typeof verifiedServiceRoot>>

/** Adds stones. @returns size and root of the tree afterwards */
async function addStones(fixture: MoveFixture, config: InstallationConfig, stones: number): Promise<TreeRoot> {
  const service = await fixture.serve(config)
  try {
    await createdMany(service.ann, stones)
    return await verifiedServiceRoot(service.installation)
  } finally {
    await service.stop()
  }
}

/** The tree of a service on this installation has the same root at the known size. */
async function assertRootUnchanged(fixture: MoveFixture, config: InstallationConfig, root: TreeRoot): Promise<void> {
  const service = await fixture.serve(config)
  try {
    assert.equal(await verifiedServiceRoot(service.installation, root.size), root)
  } finally {
    await service.stop()
  }
}

async function moveInstallation(fixture: MoveFixture, from: InstallationConfig, to: InstallationConfig): Promise<void> {
  const { code, err } = await fixture.move(from, to)
  if (code !== 0) throw new Error(err)
}

test('stays the same after a move, a rebuild and a restore from a backup', async ({ fixture }) => {
  const [from, to] = [fixture.sqlite('a'), fixture.sqlite('b')]
  const root = await addStones(fixture, from, 300)
  await moveInstallation(fixture, from, to)
  await assertRootUnchanged(fixture, to, root)

  for (const name of readdirSync(to.dataDir)) if (name.startsWith('read-')) rmSync(join(to.dataDir, name))
  await assertRootUnchanged(fixture, to, root)

  const larger = await addStones(fixture, to, 300)
  const settings = { DATA_DIR: to.dataDir, LOG_LEVEL: 'error' }
  const folder = join(fixture.folder, 'backup')
  for (const words of [
    ['rebuild', 'tree'],
    ['backup', folder],
    ['restore', folder, '--replace'],
  ]) {
    const { code, err } = await fixture.commands.run(words, settings)
    if (code !== 0) throw new Error(err)
  }
  await assertRootUnchanged(fixture, to, larger)
})

const mongo = await mongoServer('trees move to EventStoreDB and MongoDB')
if (mongo !== undefined) {
  test('stays the same after a move to EventStoreDB and MongoDB', async ({ fixture }) => {
    const from = fixture.sqlite('a')
    const root = await addStones(fixture, from, 20)
    const to = await fixture.servers(fixture.masterKey(from))
    await moveInstallation(fixture, from, to)
    await assertRootUnchanged(fixture, to, root)
    await assertRootUnchanged(fixture, to, await addStones(fixture, to, 10))
  })
}

test.run()
