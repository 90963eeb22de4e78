import Database from 'better-sqlite3'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { attached, smallPdf } from '../../api/harness/form.ts'
import { openPostbox, SmtpRefusal, type Postbox } from '../../api/harness/postbox.ts'
import { expect } from '../../api/harness/request.ts'
import { newSender, shared, type Shown } from '../../api/harness/secrets.ts'
import { startService, type Service } from '../../api/harness/service.ts'
import { created, createdMany } from '../../api/harness/stones.ts'
import { dropDatabase, mongoUrl, databaseAt } from '../../mongo-server.ts'
import { startPeer, type Peer } from '../../eventstoredb/peer/peer.ts'
import { STORES_STREAM } from '../../../src/domain/installation/installation.ts'
import { COPY_STREAM } from '../../../src/domain/installation/read-only-state.ts'
import type { EventStore, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import { all } from '../../contract/event-store/given.ts'
import { CommandLine, type CommandResult, type RunningProgram } from '../command-line.ts'
import { FROM_SOURCE } from '../../from-source.ts'
import { until } from '../../until.ts'

/** The source or target of a move, with the settings of a service on it. */
export type InstallationConfig = {
  readonly address: string
  readonly dataDir: string
  readonly settings: Record<string, string>
}

/** The installations of one test, and the mail server that they share. */
export class MoveFixture {
  readonly commands = new CommandLine()
  readonly folder = mkdtempSync(join(tmpdir(), 'adamant-copy-'))
  readonly #cleanups: (() => Promise<unknown>)[] = []

  private constructor(readonly postbox: Postbox) {}

  static async open(): Promise<MoveFixture> {
    return new MoveFixture(await openPostbox())
  }

  sqlite(name: string): InstallationConfig {
    const dataDir = join(this.folder, name)
    return { address: `sqlite:${dataDir}`, dataDir, settings: {} }
  }

  /** An installation on the EventStoreDB peer and on FerretDB or the server at MONGODB_URL. */
  async servers(masterKey: string): Promise<InstallationConfig> {
    const peer: Peer = await startPeer()
    const mongo = await mongoUrl()
    if (mongo === undefined) throw new Error('neither MONGODB_URL nor FERRETDB_BIN is set')
    const database = databaseAt(mongo, `copy_${peer.port}`)
    this.#cleanups.push(
      () => peer.stop(),
      () => dropDatabase(database),
    )
    const settings = { EVENT_STORE: peer.url, READ_MODEL: database, MASTER_KEY: masterKey }
    return { address: `${peer.url},${database}`, dataDir: join(this.folder, `outbox-${peer.port}`), settings }
  }

  serve({ dataDir, settings }: InstallationConfig): Promise<Service> {
    return startService({ dataDir, settings: { ...settings, MAILER: this.postbox.address }, scored: true })
  }

  move(from: InstallationConfig, to: InstallationConfig, ...options: string[]): Promise<CommandResult> {
    return this.commands.run([...moveCommand(from, to), ...options], moveSettings(from, to))
  }

  /** Starts a move that sends itself a signal after one call of its stores; test/faults/move/signalled.ts names the calls. */
  startSignalledMove(
    from: InstallationConfig,
    to: InstallationConfig,
    call: string,
    signal: NodeJS.Signals = 'SIGKILL',
  ): RunningProgram {
    const settings = { ...moveSettings(from, to), AT: call, SIGNAL: signal }
    return this.commands.start(moveCommand(from, to), settings, [...FROM_SOURCE, SIGNALLED])
  }

  /** Runs a move by another program than the built one. */
  moveWithProgram(program: string, from: InstallationConfig, to: InstallationConfig): Promise<CommandResult> {
    return this.commands.start(moveCommand(from, to), moveSettings(from, to), [...FROM_SOURCE, program]).ended
  }

  masterKey = ({ dataDir }: InstallationConfig) => readFileSync(join(dataDir, 'master.key'), 'utf8').trim()

  async close(): Promise<void> {
    await this.commands.remove()
    await this.postbox.close()
    for (const cleanup of this.#cleanups) await cleanup()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A program that sends itself SIGNAL after the call AT. */
export const SIGNALLED = fileURLToPath(new URL('../../faults/move/signalled.ts', import.meta.url))

const moveCommand = (from: InstallationConfig, to: InstallationConfig) => [
  'move',
  '--yes',
  '--from',
  from.address,
  '--to',
  to.address,
  '--json',
]

function moveSettings(from: InstallationConfig, to: InstallationConfig): Record<string, string> {
  const { MASTER_KEY } = { ...from.settings, ...to.settings } as Record<string, string>
  return { LOG_LEVEL: 'error', ...(MASTER_KEY !== undefined && { MASTER_KEY }) }
}

export type InstallationContents = {
  readonly older: number
  readonly pdf: Buffer
  readonly file: string
  readonly unsentSecret: Shown
}

/** Gives a score event an id that this release would not derive, as if an older release had scored the diamond. */
function replaceScoreEventId({ dataDir }: Service, diamond: number): void {
  const db = new Database(join(dataDir, 'events.db'))
  const { changes } = db.prepare('UPDATE events SET id = randomblob(16) WHERE stream = ?').run(`scores-${diamond}`)
  db.close()
  assert.is(changes, 1)
}

/** Adds 21 stones, one of them with scores of an older release, a report, a secret with a sent mail, and one with an unsent mail. */
export async function fillInstallation(service: Service, postbox: Postbox): Promise<InstallationContents> {
  const { ann, installation } = service
  const { id } = await created(ann, { sku: 'OLDER' })
  await createdMany(ann, 20)
  await waitForScores(service, 21)
  replaceScoreEventId(service, id)
  expect(200, await ann.patch(`/v4/diamond/${id}`, { price: 12 }))
  const pdf = smallPdf(70_000)
  const { file } = await attached(ann, id, pdf)
  const sender = await newSender(installation)
  await shared(service.url, sender, { secret: 'told', recipient: 'tom@myspace.example' })
  await until('the first mail', () => postbox.accepted.length === 1)
  await until('the MailSent event', async () => (await typesOf(installation.store)).includes('MailSent'))
  postbox.refuse.message = () => {
    throw new SmtpRefusal(451, 'try again later')
  }
  const unsentSecret = await shared(service.url, sender, { secret: 'hidden value', recipient: 'ann@myspace.example' })
  return { older: id, pdf, file: file ?? '', unsentSecret }
}

const typesOf = async (store: EventStore) => (await all(store.readAll('start'))).map(({ type }) => type)

/** Waits until this number of stones have scores. */
export async function waitForScores({ installation: { store } }: Service, stones: number): Promise<void> {
  await until('scores', async () => {
    const scored = await all(store.readAll('start', { prefixes: ['scores-'] }))
    return new Set(scored.map(({ stream }) => stream)).size >= stones
  })
}

/** The events of a log that a move copies: those up to the fence, without positions. */
export async function copiedEvents(store: EventStore): Promise<Omit<StoredEvent, 'position'>[]> {
  const events = (await all(store.readAll('start'))).filter(
    ({ stream }) => stream !== COPY_STREAM && stream !== STORES_STREAM,
  )
  const fence = events.findLastIndex(({ type }) => type === 'LogFenced')
  return events
    .slice(0, fence + 1)
    .map(({ stream, revision, id, type, data, metadata }) => ({ stream, revision, id, type, data, metadata }))
}

/** The last line on stdout of a command that must succeed, parsed. */
export function resultOf({ code, out, err }: CommandResult): Record<string, unknown> {
  assert.is(code, 0, err)
  return JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
}
