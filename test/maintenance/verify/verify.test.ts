import { readdirSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { vendor, type Vendor } from '../../api/harness/account.ts'
import { attached } from '../../api/harness/form.ts'
import { expect } from '../../api/harness/request.ts'
import { newSender, reveal, shared, type Sender } from '../../api/harness/secrets.ts'
import { GENEROUS_TIMEOUT_MS, startService, type Service } from '../../api/harness/service.ts'
import { created, createdMany } from '../../api/harness/stones.ts'
import { diamonds } from '../../../src/projections/diamonds/diamonds.ts'
import { COMPARED_MODELS, type VerificationReport } from '../../../src/maintenance/verify/verify.ts'
import { CommandLine } from '../../cli/command-line.ts'
import { withInstallation } from './verify-folder.ts'

type Context = { commands: CommandLine; service: Service; sender: Sender }
const test = suite<Context>('adamant verify')
test.before.each(async (context) => {
  context.commands = await CommandLine.onEngines()
  // One test sends requests while verify runs, which must not exceed the rate limit.
  const settings = { RATE_LIMIT: '0' }
  context.service = await startService({
    dataDir: context.commands.dataDir,
    readModelTimeoutMs: GENEROUS_TIMEOUT_MS,
    settings,
  })
  context.sender = await newSender(context.service.installation)
})
test.after.each(async ({ commands, service }) => {
  await service.stop()
  await commands.remove()
})

const ROUNDS = process.env['ADAMANT_FULL'] === '1' ? 20 : 2

/** Of each writer, several times as many as fit into a verify. On one core, verify has a low priority and waits for their end. */
const MAX_WRITING_ROUNDS = 50 * ROUNDS

/** Writes data of every kind that read models, files and vault contain. */
async function writeEverything({ url }: Service, sender: Sender, owner: Vendor, sku: string): Promise<void> {
  const { id } = await created(owner, { sku })
  expect(200, await owner.patch(`/v4/diamond/${id}`, { carat: 1.25 }))
  const one = await attached(owner, id)
  const deleted = await created(owner, { sku: `${sku}-GONE` })
  await attached(owner, deleted.id)
  expect(204, await owner.remove(`/v4/diamond/${deleted.id}`))
  expect(204, await owner.remove(`/v4/certification/${one.id}`))
  await attached(owner, id)
  await shared(url, sender, { secret: 'waits' })
  const { secret_key: read } = await shared(url, sender, { secret: 'is read' })
  expect(200, await reveal(url, read))
}

async function verify({ commands }: Context, expected = 0): Promise<VerificationReport> {
  const { code, out, err } = await commands.run(['verify', '--json'])
  assert.is(code, expected, `${err}${out}`)
  return JSON.parse(out) as VerificationReport
}

test('finds no difference in an undamaged installation, and reports what it checked', async (context) => {
  const { service, sender, commands } = context
  await createdMany(service.ann, 30)
  await writeEverything(service, sender, service.ann, 'A')
  const result = await verify(context)
  assert.equal(Object.keys(result), ['ok', 'events', 'seconds', 'models', 'files', 'vault', 'tree', 'differences'])
  assert.equal(result.differences, [])
  assert.is(result.ok, true)
  assert.equal(
    Object.keys(result.models),
    COMPARED_MODELS.map(({ declaration }) => declaration.name),
  )
  assert.ok((result.models['diamonds']?.documents ?? 0) >= 31)
  assert.ok(result.events > 40)
  assert.is(result.files, 1)
  assert.ok(result.vault !== null && result.vault >= 1)
  assert.equal(
    readdirSync(commands.dataDir).filter((name) => name.startsWith('scratch')),
    [],
  )
  const { out, code } = await commands.run(['verify'])
  assert.is(code, 0)
  assert.match(out, /No differences/)
})

test('finds no difference while the service writes', async (context) => {
  const { service, sender } = context
  const { url, ann, bob } = service
  // Verify reports missing read models before the service has folded the first events.
  await writeEverything(service, sender, ann, 'FIRST')
  const stop = new AbortController()
  const writing = [ann, bob].map(async (owner, number) => {
    for (let round = 0; round < MAX_WRITING_ROUNDS && !stop.signal.aborted; round++)
      await writeEverything(service, sender, vendor(url, owner.account, owner.token), `${number}-${round}`)
  })
  const verifying = async () => {
    try {
      for (let round = 0; round < ROUNDS; round++) assert.equal((await verify(context)).differences, [])
    } finally {
      stop.abort()
    }
  }
  await Promise.all([verifying(), ...writing])
})

test('reports documents that differ from the log, and none after a rebuild', async (context) => {
  const { service, commands } = context
  const [first, second, third] = await createdMany(service.ann, 4)
  assert.ok(first && second && third)
  await service.stop()
  await withInstallation(commands.dataDir, async ({ reads }) => {
    const build = await reads.live(diamonds.declaration)
    const checkpoint = await build.checkpoint()
    assert.ok(checkpoint && checkpoint.position !== 'start')
    const [stored] = await build.load([first.id])
    assert.ok(stored)
    const { document } = stored
    const revision = checkpoint.position.commit
    const changed = { ...document, owner: Number(document['owner']) + 1 }
    await build.write(
      [
        { put: changed, revision },
        { put: { ...document, id: 999_999 }, revision },
        { remove: third.id, revision },
      ],
      checkpoint,
    )
  })
  const { differences, models, ok } = await verify(context, 1)
  assert.is(ok, false)
  assert.is(models['diamonds']?.differences, 3)
  const whats = differences.map(({ what }) => what).toSorted()
  assert.match(whats[0] ?? '', `document ${first.id} of diamonds differs from the log in owner`)
  assert.match(whats[1] ?? '', `document ${third.id} of diamonds is missing`)
  assert.match(whats[2] ?? '', 'document 999999 of diamonds exists, but not according to the log')
  assert.ok(differences.every(({ do: remedy }) => remedy.includes('adamant rebuild diamonds')))
  assert.ok(differences.some(({ where }) => where === `diamond-${third.id}@0`))
  const { code, out, err } = await commands.run(['verify'])
  assert.is(code, 1)
  assert.match(out, 'adamant rebuild diamonds')
  assert.match(err, 'adamant: 3 differences')

  await commands.json('rebuild', 'diamonds')
  assert.is((await verify(context)).ok, true)
})

test.run()
