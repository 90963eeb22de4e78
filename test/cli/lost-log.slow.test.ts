import Database from 'better-sqlite3'
import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { attached, pathOf } from '../api/harness/form.ts'
import { expect } from '../api/harness/request.ts'
import { newSender, reveal, shared } from '../api/harness/secrets.ts'
import { created } from '../api/harness/stones.ts'
import { startPeer } from '../eventstoredb/peer/peer.ts'
import { until } from '../until.ts'
import {
  installationSuite,
  serverInstallationSuite,
  type TemporaryInstallation,
} from './backup/temporary-installation.ts'
import type { Settings } from './command-line.ts'

const test = installationSuite('an installation whose log is lost')

/** Hides warnings, so that stderr only has the error. */
const QUIET = { PORT: '0', LOG_LEVEL: 'error' }

/** The commands of an operator who looks for the fault, and those that could create a log. */
const COMMANDS = [
  ['serve'],
  ['verify'],
  ['rebuild', '--all'],
  ['backup', '/nowhere/adamant'],
  ['status'],
  ['user', 'add', 'new@example.com', '--password', 'right horse'],
  ['client', 'add', 'new'],
]

/** An installation with a certificate's file and a pending secret, which is stopped. */
async function filled(installation: TemporaryInstallation, settings: Settings = {}) {
  const service = await installation.serve(undefined, settings)
  const { id } = await created(service.ann, { sku: 'KEPT' })
  const file = pathOf((await attached(service.ann, id)).file)
  const { secret_key: secretKey } = await shared(service.url, await newSender(service.installation), {
    secret: 'waiting',
  })
  await until('a checkpoint of the vault', async () => (await service.installation.vault.checkpoint()) !== undefined)
  await service.stop()
  return { file, secretKey }
}

/** Names of all files in the folder of certificates and 3D files. */
const storedFiles = (dataDir: string) => readdirSync(join(dataDir, 'files'), { recursive: true }).map(String).toSorted()

/** Every command ends with exit code 1 and one line that fits. */
async function expectRefusals(installation: TemporaryInstallation, message: RegExp, settings: Settings = {}) {
  for (const words of COMMANDS) {
    const { code, err } = await installation.runToFailure(words, { ...QUIET, ...settings })
    assert.match(err, message, words.join(' '))
    assert.is(code, 1, words.join(' '))
    assert.is(
      err
        .trim()
        .split('\n')
        .filter((line) => line.startsWith('adamant: ')).length,
      1,
      err,
    )
  }
}

const isLogFile = (name: string) => name.startsWith('events.db')

const deleted = (file: string) => rmSync(file)
const truncated = (file: string) => writeFileSync(file, '')

/** What a young log is without its write-ahead log: a database without tables. */
function copiedWithoutWriteAheadLog(file: string): void {
  rmSync(file)
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  db.close()
}

for (const [what, lose] of [
  ['missing', deleted],
  ['empty', truncated],
  ['empty', copiedWithoutWriteAheadLog],
] as const) {
  test(`is refused by every command if events.db is ${what}: ${lose.name}, and served when it is put back`, async ({
    installation,
  }) => {
    const { file, secretKey } = await filled(installation)
    const { dataDir } = installation
    const [log, kept] = [join(dataDir, 'events.db'), installation.pathOf('kept.db')]
    copyFileSync(log, kept)
    lose(log)
    const files = storedFiles(dataDir)
    await expectRefusals(
      installation,
      new RegExp(
        `^adamant: There is no event log in ${dataDir}: events.db is ${what}, but .* found checkpoints of a log, secrets, ` +
          "accounts' addresses, files\\..* put events.db back, .*adamant restore FROM --replace.*an empty DATA_DIR$",
        'm',
      ),
    )
    assert.equal(storedFiles(dataDir), files)
    copyFileSync(kept, log)
    const service = await installation.serve()
    expect(200, await service.send({ path: file }))
    expect(200, await reveal(service.url, secretKey))
  })
}

/** Everything of the folder that alone shows that it has known a log, and what the message calls it. */
const TRACES: readonly (readonly [trace: string, belongs: (name: string) => boolean])[] = [
  ['checkpoints of a log', (name) => name === 'seen.json'],
  ['checkpoints of a log', (name) => name.startsWith('read-')],
  ['secrets', (name) => name.startsWith('vault.db')],
  ['files', (name) => name === 'files'],
  ['events.db-wal', (name) => name === 'events.db-wal'],
  ['events.db.before-1', (name) => name === 'events.db.before-1'],
]

test('is recognised by any part that has known a log', async ({ installation }) => {
  await filled(installation)
  const full = installation.pathOf('full')
  renameSync(installation.dataDir, full)
  for (const name of ['events.db-wal', 'events.db.before-1']) writeFileSync(join(full, name), 'x')
  for (const [index, [trace, belongs]] of TRACES.entries()) {
    const dataDir = installation.pathOf(`part-${index}`)
    mkdirSync(dataDir)
    for (const name of [...readdirSync(full).filter(belongs), 'master.key'])
      cpSync(join(full, name), join(dataDir, name), { recursive: true })
    const { code, err } = await installation.runToFailure(['verify'], { ...QUIET, DATA_DIR: dataDir })
    assert.match(err, new RegExp(`^adamant: There is no event log in .* found (.*, )?${trace}[.,]`, 'm'), trace)
    assert.is(code, 1, trace)
    assert.not.ok(existsSync(join(dataDir, 'events.db')), trace)
  }
})

test('is not mistaken for a new one, which may have a master key and what an interrupted first start left', async ({
  installation,
}) => {
  const { dataDir } = installation
  mkdirSync(dataDir)
  const key = randomBytes(32).toString('base64')
  writeFileSync(join(dataDir, 'master.key'), key)
  const missing = await installation.run(['verify'], QUIET)
  assert.equal([missing.code, missing.err], [2, `adamant: no installation in ${dataDir}: set DATA_DIR to its folder\n`])
  // The stores beside the log are opened first.
  await installation.json(['client', 'add', 'new'])
  for (const name of readdirSync(dataDir).filter(isLogFile)) rmSync(join(dataDir, name))
  rmSync(join(dataDir, 'files', 'identity'), { force: true })
  await (await installation.serve()).stop()
  assert.is(readFileSync(join(dataDir, 'master.key'), 'utf8'), key)
})

test('is restored from a backup, whatever is left of its log', async ({ installation }) => {
  const { dataDir } = installation
  await filled(installation)
  const backup = installation.pathOf('backup')
  await installation.json(['backup', backup])
  const later = await installation.serve()
  await created(later.ann, { sku: 'LOST' })
  const writeAheadLog = readFileSync(join(dataDir, 'events.db-wal'))
  await later.stop()
  const full = installation.pathOf('full')
  renameSync(dataDir, full)
  for (const [remaining, remains] of [
    ['nothing', {}],
    ['an empty file', { 'events.db': '' }],
    ['its write-ahead log', { 'events.db-wal': writeAheadLog }],
    ['an empty file and its write-ahead log', { 'events.db': '', 'events.db-wal': writeAheadLog }],
  ] as const) {
    rmSync(dataDir, { recursive: true, force: true })
    cpSync(full, dataDir, { recursive: true })
    for (const name of readdirSync(dataDir).filter(isLogFile)) rmSync(join(dataDir, name))
    for (const [name, content] of Object.entries(remains)) writeFileSync(join(dataDir, name), content)
    await installation.json(['restore', backup, '--replace'])
    const service = await installation.serve()
    const { ok, files } = await installation.json(['verify'])
    assert.equal([ok, files], [true, 1], remaining)
    await service.stop()
  }
})

/** A log whose first page was lost in a crash. */
function withoutFirstPage(file: string): void {
  const content = readFileSync(file)
  writeFileSync(file, content.fill(0, 0, 4096))
}

/** The database of another program. */
function replacedByOtherDatabase(file: string): void {
  rmSync(file)
  const db = new Database(file)
  db.exec('CREATE TABLE notes (text)')
  db.close()
}

/** SQLite changes the first page of any database that it opens. */
const afterFirstPage = (file: string) => readFileSync(file).subarray(4096)

for (const [what, lose, message] of [
  ['damaged', withoutFirstPage, /^adamant: .*is not a database/m],
  ["another program's", replacedByOtherDatabase, /^adamant: .*events\.db is not an event log of Adamant/m],
] as const) {
  test(`is not taken for empty if events.db is ${what}: nothing overwrites it`, async ({ installation }) => {
    const { dataDir } = installation
    await filled(installation)
    const backup = installation.pathOf('backup')
    await installation.json(['backup', backup])
    const log = join(dataDir, 'events.db')
    lose(log)
    const content = afterFirstPage(log)
    const files = storedFiles(dataDir)
    const { err } = await installation.runToFailure(['serve'], QUIET)
    assert.match(err, message)
    await installation.run(['restore', backup, '--replace'])
    const contents = readdirSync(dataDir)
      .filter(isLogFile)
      .map((name) => afterFirstPage(join(dataDir, name)))
    assert.ok(contents.some((one) => one.equals(content)))
    assert.equal(storedFiles(dataDir), files)
  })
}

test('is not filled with another installation by a move, which changes nothing', async ({ installation }) => {
  const { dataDir } = installation
  await filled(installation)
  const [other, MASTER_KEY] = [installation.pathOf('other'), installation.masterKey()]
  await installation.json(['client', 'add', 'other'], { DATA_DIR: other, MASTER_KEY })
  for (const name of readdirSync(dataDir).filter(isLogFile)) rmSync(join(dataDir, name))
  const addresses = ['--from', `sqlite:${other}`, '--to', `sqlite:${dataDir}`]
  const { code, err } = await installation.run(['move', '--yes', ...addresses], { ...QUIET, MASTER_KEY })
  assert.match(err, /^adamant: There is no event log in .* events\.db is missing/m)
  assert.is(code, 1)
  assert.not.ok(existsSync(join(dataDir, 'events.db')))
})

test('is not completed in place, and its write-ahead log stays', async ({ installation }) => {
  const { dataDir } = installation
  await filled(installation)
  const [log, writeAheadLog] = [join(dataDir, 'events.db'), join(dataDir, 'events.db-wal')]
  for (const name of readdirSync(dataDir).filter(isLogFile)) rmSync(join(dataDir, name))
  writeFileSync(log, '')
  writeFileSync(writeAheadLog, 'frames')
  const { err } = await installation.run(['restore', '--in-place'], QUIET)
  assert.match(err, /^adamant: no event log in .*: --in-place requires a log that has already been restored/m)
  assert.is(readFileSync(writeAheadLog, 'utf8'), 'frames')
})

test('is not restored from the backup of another installation', async ({ installation }) => {
  await filled(installation)
  const [backup, other, MASTER_KEY] = [
    installation.pathOf('backup'),
    installation.pathOf('other'),
    installation.masterKey(),
  ]
  await installation.json(['client', 'add', 'other'], { DATA_DIR: other, MASTER_KEY })
  await installation.json(['backup', backup], { DATA_DIR: other, MASTER_KEY })
  for (const name of readdirSync(installation.dataDir).filter(isLogFile)) rmSync(join(installation.dataDir, name))
  const { code, err } = await installation.run(['restore', backup, '--replace'])
  assert.match(err, /^adamant: DATA_DIR belongs to another installation than the backup/m)
  assert.is(code, 1)
  assert.not.ok(existsSync(join(installation.dataDir, 'events.db')))
})

test('is not continued by another log that was never used with a vault and files', async ({ installation }) => {
  const { dataDir } = installation
  await filled(installation)
  const [log, other, MASTER_KEY] = [join(dataDir, 'events.db'), installation.pathOf('other'), installation.masterKey()]
  const kept = installation.pathOf('kept.db')
  renameSync(log, kept)
  await installation.json(['client', 'add', 'other'], { DATA_DIR: other, MASTER_KEY })
  copyFileSync(join(other, 'events.db'), log)
  const files = storedFiles(dataDir)
  for (const words of [['serve'], ['verify'], ['rebuild', '--all']]) {
    const { code, err } = await installation.runToFailure(words, QUIET)
    assert.match(
      err,
      /^adamant: The event log .* has never been used with the vault and files in .* this folder has seen another log/m,
    )
    assert.is(code, 1, words.join(' '))
  }
  assert.equal(storedFiles(dataDir), files)
  renameSync(kept, log)
  await (await installation.serve()).stop()
})

const onServer = serverInstallationSuite('an installation whose log on a server is lost')

onServer('is refused by every command while the log is empty, and served when it is back', async (context) => {
  const { installation, peer, settings } = context
  const { file } = await filled(installation, settings)
  const files = storedFiles(installation.dataDir)
  const emptyPeer = await startPeer()
  try {
    await expectRefusals(
      installation,
      new RegExp(
        `^adamant: The event log that EVENT_STORE names, esdb://127.0.0.1:${emptyPeer.port}.*, is empty, but .* found checkpoints of a log, ` +
          "secrets, accounts' addresses, files\\..* set EVENT_STORE to this installation's log, or restore the server's " +
          'backup and run `adamant restore FROM --in-place`',
        'm',
      ),
      { ...settings, EVENT_STORE: emptyPeer.url },
    )
    assert.equal(emptyPeer.log.all, [])
  } finally {
    await emptyPeer.stop()
  }
  assert.equal(storedFiles(installation.dataDir), files)
  const service = await installation.serve(undefined, settings)
  expect(200, await service.send({ path: file }))
  assert.ok(peer.log.all.length > 0)
})

test.run()
onServer.run()
