import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { vendor, type Vendor } from '../../api/harness/account.ts'
import { attached, pathOf, smallPdf } from '../../api/harness/form.ts'
import { attachModel, modelFile } from '../../api/harness/models.ts'
import { expect } from '../../api/harness/request.ts'
import { newSender, post, shared } from '../../api/harness/secrets.ts'
import { created, list, shown, stone } from '../../api/harness/stones.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'
import { all } from '../../contract/event-store/given.ts'
import { until } from '../../until.ts'
import { installationSuite } from './temporary-installation.ts'

const test = installationSuite('a backup')

const storedDigests = async (files: FileStore) => (await all(files.list())).map(({ digest }) => digest)

const skus = async (ann: Vendor) => {
  const response = await ann.get('/v4/diamond?limit=1000')
  return response.status === 204 ? [] : list(expect(200, response)).map(({ sku }) => sku)
}

test('is refused inside DATA_DIR, also if a symbolic link leads there', async ({ installation }) => {
  await installation.json(['user', 'add', 'a@example.com', '--password', 'right horse'])
  symlinkSync(installation.dataDir, installation.pathOf('link'))
  const link = installation.pathOf('link')
  for (const [dataDir, folder] of [
    [link, join(link, 'b')],
    [link, join(installation.dataDir, 'b')],
    [installation.dataDir, join(link, 'new', 'b')],
  ] as const) {
    const { code, err } = await installation.run(['backup', folder], { DATA_DIR: dataDir })
    assert.equal([code, /is inside DATA_DIR and would be lost with it/.test(err)], [2, true], err)
  }
  await installation.json(['backup', installation.pathOf('b')], { DATA_DIR: link })
})

test('restores its state, invalidates sessions, links and waiting secrets, and does not reuse later numbers', async ({
  installation,
}) => {
  const service = await installation.serve()
  const { ann } = service
  const { id } = await created(ann, { sku: 'KEPT' })
  const pdf = smallPdf(70_000)
  const file = pathOf((await attached(ann, id, pdf)).file)
  const body = modelFile('Round', 'Good', 1)
  expect(201, await attachModel(ann, id, body))
  const sender = await newSender(service.installation)
  const waiting = await shared(service.url, sender, { secret: 'waiting' })
  const backedUp = await installation.json(['backup', installation.pathOf('b')])
  assert.equal(Object.keys(backedUp), ['events', 'files', 'bytes', 'position', 'seconds'])
  assert.is(backedUp['files'], 2)
  assert.equal(readdirSync(installation.pathOf('b')).toSorted(), [
    'events.db',
    'files',
    'manifest.json',
    'persons.jsonl',
  ])
  assert.is(statSync(installation.pathOf('b')).mode & 0o077, 0)

  const eve = await service.newVendor()
  await created(eve, { sku: 'EVES' })
  await created(ann, { sku: 'LOST' })
  const revoked = await newSender(service.installation)
  await service.stop()

  const restored = await installation.json(['restore', installation.pathOf('b'), '--replace'])
  assert.equal(Object.keys(restored).toSorted(), ['bytes', 'epoch', 'events', 'files', 'position', 'seconds'])
  assert.equal([restored['events'], restored['files']], [backedUp['events'], 2])
  const restarted = await installation.serve()
  for (const { account, token } of [ann, eve]) {
    const old = vendor(restarted.url, account, token)
    expect(401, await old.get('/v4/diamond'))
    expect(401, await old.get(`/v3/diamond/${id}`))
    expect(401, await old.post('/v4/diamond', stone({ sku: 'OLD' })))
  }
  expect(404, await restarted.send({ path: file }))
  expect(404, await post(restarted.url, `secret/${waiting.secret_key}`))
  const authorization = (of: typeof sender) => ({
    path: '/api/v1/authcheck',
    headers: { Authorization: of.authorization },
  })
  expect(200, await restarted.send(authorization(sender)))
  expect(401, await restarted.send(authorization(revoked)))
  for (const vendorAfter of [restarted.ann, await restarted.newVendor()]) {
    assert.ok(
      vendorAfter.account > eve.account + 999_000,
      `account ${vendorAfter.account} may have been issued before the restore`,
    )
    assert.equal(await skus(vendorAfter), [])
  }
  const owned = await restarted.installation.store.readStream(`diamond-${id}`)
  assert.equal(owned[0]?.data['owner'], ann.account)
  assert.equal(
    (await storedDigests(restarted.installation.files)).toSorted(),
    [pdf, body].map((bytes) => createHash('sha256').update(bytes).digest('hex')).toSorted(),
  )
  await restarted.stop()
  assert.ok(existsSync(join(installation.dataDir, `events.db.before-${restored['epoch']}`)))

  // A second restore of the same backup also invalidates the tokens of the first restore's epoch.
  const second = await installation.json(['restore', installation.pathOf('b'), '--replace'])
  assert.ok(Number(second['epoch']) > Number(restored['epoch']))
  const last = await installation.serve()
  expect(401, await vendor(last.url, restarted.ann.account, restarted.ann.token).get('/v4/diamond'))
})

test('during writes has every stone that was acknowledged before it began', async ({ installation }) => {
  const service = await installation.serve()
  const { ann } = service
  const acknowledged: string[] = []
  const stop = new AbortController()
  const writing = (async () => {
    for (let number = 0; !stop.signal.aborted; number++) {
      const sku = `S-${number}`
      shown(expect(201, await ann.post('/v4/diamond', stone({ sku }))))
      acknowledged.push(sku)
    }
  })()
  let before: string[] = []
  let backupFolder = ''
  const backingUp = async () => {
    try {
      await until('stones', () => acknowledged.length > 20)
      // Repeats until stones were written during a backup.
      for (let time = 0; before.length === 0 || acknowledged.length === before.length; time++) {
        before = [...acknowledged]
        backupFolder = installation.pathOf(`b-${time}`)
        await installation.json(['backup', backupFolder])
      }
    } finally {
      stop.abort()
    }
  }
  await Promise.all([backingUp(), writing])
  const MASTER_KEY = readFileSync(join(installation.dataDir, 'master.key'), 'utf8').trim()
  await service.stop()

  const otherFolder = installation.pathOf('elsewhere')
  await installation.json(['restore', backupFolder], { DATA_DIR: otherFolder, MASTER_KEY })
  const restored = await installation.serve(otherFolder, { MASTER_KEY })
  const stored = new Set<unknown>()
  for await (const { data } of restored.installation.store.readAll('start', { prefixes: ['diamond-'] })) {
    stored.add((data['set'] as { sku: string } | undefined)?.sku)
  }
  for (const sku of before) assert.ok(stored.has(sku), `${sku} is lost`)
})

test('is not restored into a non-empty folder, while a service runs, or if it is damaged', async ({ installation }) => {
  const service = await installation.serve()
  const { id } = await created(service.ann)
  await attached(service.ann, id)
  await installation.json(['backup', installation.pathOf('b')])
  const running = await installation.run(['restore', installation.pathOf('b'), '--replace'])
  assert.is(running.code, 1)
  assert.match(running.err, /^adamant: Other processes have .* open: stop the service/m)
  assert.is(running.err.trim().split('\n').at(-1)?.startsWith('adamant: '), true)
  await created(service.ann, { sku: 'LATER' })
  await service.stop()

  const unconfirmed = await installation.run(['restore', installation.pathOf('b')])
  assert.is(unconfirmed.code, 2)
  assert.match(unconfirmed.err, /is not empty.*--replace/)
  assert.is((await installation.run(['restore', installation.pathOf('nowhere'), '--replace'])).code, 2)
  assert.is((await installation.run(['backup', installation.pathOf('b')])).code, 2)
  assert.is((await installation.run(['backup', join(installation.dataDir, 'b')])).code, 2)
  assert.is(
    (await installation.run(['backup', installation.pathOf('c')], { DATA_DIR: installation.pathOf('nowhere') })).code,
    2,
  )
  assert.not.ok(existsSync(installation.pathOf('nowhere')))
  const keyless = await installation.run(['restore', installation.pathOf('b')], {
    DATA_DIR: installation.pathOf('new'),
  })
  assert.is(keyless.code, 2)
  assert.match(keyless.err, /MASTER_KEY/)
  const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
  const other = await installation.run(['restore', installation.pathOf('b')], {
    DATA_DIR: installation.pathOf('new'),
    MASTER_KEY,
  })
  assert.is(other.code, 1)
  assert.match(other.err, /master key/)

  const before = readFileSync(join(installation.dataDir, 'events.db'))
  const [first = ''] = readdirSync(join(installation.pathOf('b'), 'files')).filter((name) => name !== 'incoming')
  const log = join(installation.pathOf('b'), 'events.db')
  const persons = join(installation.pathOf('b'), 'persons.jsonl')
  const whole = readFileSync(persons)
  const damages: [message: RegExp, damage: () => void][] = [
    [/damaged: .*persons\.jsonl is damaged: its SHA-256 is/, () => writeFileSync(persons, whole.subarray(1))],
    [
      /damaged: the file/,
      () => (
        writeFileSync(persons, whole),
        rmSync(join(installation.pathOf('b'), 'files', first), { recursive: true })
      ),
    ],
    [/damaged/, () => truncateSync(log, 8192)],
    [/The backup cannot be read: EISDIR.*Nothing was changed/, () => (rmSync(log), mkdirSync(log))],
    [/damaged/, () => writeFileSync(join(installation.pathOf('b'), 'manifest.json'), '{"format"')],
  ]
  for (const [message, damage] of damages) {
    damage()
    const { code, err } = await installation.run(['restore', installation.pathOf('b'), '--replace'])
    assert.is(code, 1)
    assert.match(err, message)
    assert.not.match(err, /^ {4}at /m)
    assert.ok(readFileSync(join(installation.dataDir, 'events.db')).equals(before), 'the log was touched')
  }
  const unchanged = await installation.serve()
  assert.equal(await skus(vendor(unchanged.url, service.ann.account, service.ann.token)), [
    'LATER',
    shown(await vendor(unchanged.url, service.ann.account, service.ann.token).get(`/v4/diamond/${id}`)).sku,
  ])
})

test('of an installation that was moved since stays read-only after a restore', async ({ installation }) => {
  const service = await installation.serve()
  await created(service.ann)
  await installation.json(['backup', installation.pathOf('b')])
  await service.stop()
  await installation.json([
    'move',
    '--yes',
    '--from',
    `sqlite:${installation.dataDir}`,
    '--to',
    `sqlite:${installation.pathOf('moved')}`,
  ])

  const { code, err } = await installation.run(['restore', installation.pathOf('b'), '--replace'])
  assert.is(code, 0, err)
  const added = await installation.run(['user', 'add', 'c@example.com', '--password', 'right horse'])
  assert.is(added.code, 1)
  assert.match(added.err, /was moved to sqlite:/)
})

test.run()
