import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPostbox, type Postbox } from '../../api/harness/postbox.ts'
import { startPeerProcess, type PeerProcess } from '../../eventstoredb/peer-process.ts'
import { FERRETDB, startFerretDB } from '../../ferretdb/server.ts'
import { freeze, thaw } from '../../freeze.ts'
import { databaseAt } from '../../mongo-server.ts'
import { smallDisk, type SmallDisk } from '../small-disk.ts'
import type { Fault } from './faults.ts'

/** The environment of a run's processes: the parent of their data folder, and their servers. */
export type RunEnvironment = {
  readonly folder: string
  readonly settings: Readonly<Record<string, string>>
  /** While this file exists, each wait for the disk takes the number of milliseconds in it longer (slow-disk.js). */
  readonly slowDisk: string
  readonly disk?: SmallDisk
  readonly mailServer?: MailServer
  readonly servers?: Servers
}

/** A mail server that can be stopped and restarted at the same address. */
export type MailServer = {
  /** How often each message was accepted, by message id. */
  readonly acceptedCounts: () => ReadonlyMap<string, number>
  readonly texts: () => readonly string[]
  stop(): Promise<void>
  restart(): Promise<void>
}

export type Servers = { readonly log: PeerProcess; readonly reads: ReadModelServer }
type ReadModelServer = { freeze(): Promise<void>; thaw(): void; replace(meanwhile: () => Promise<void>): Promise<void> }

type Cleanup = () => void | Promise<void>

/** The machine lacks something that a run needs. */
export class MissingRequirement extends Error {
  override readonly name = 'MissingRequirement'
}

/** Bytes of the small disk: several times the size of a run's log with its write-ahead log. */
const DISK_BYTES = 512 * 1024 ** 2

/** Sets up what the faults need, and removes it even if the run fails. @throws MissingRequirement */
export async function withEnvironment(
  faults: readonly Fault[],
  run: (environment: RunEnvironment) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-workload-'))
  const cleanups: Cleanup[] = [() => rmSync(folder, { recursive: true, force: true })]
  const needed = new Set(faults.map(({ needs }) => needs))
  const slowDisk = join(folder, 'slow')
  try {
    const disk = needed.has('small disk') ? mountSmallDisk(join(folder, 'disk'), cleanups) : undefined
    const mailServer = needed.has('mail server') ? await startMailServer(cleanups) : undefined
    const servers = needed.has('servers') ? await openServers(join(folder, 'reads'), cleanups) : undefined
    const settings = {
      SLOW_DISK: slowDisk,
      MAILS_PER_ACCOUNT: '0',
      ...(mailServer && { MAILER: mailServer.address }),
      ...servers?.settings,
    }
    await run({
      folder: disk === undefined ? folder : join(folder, 'disk'),
      settings,
      slowDisk,
      ...(disk && { disk }),
      ...(mailServer && { mailServer }),
      ...(servers && { servers }),
    })
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

function mountSmallDisk(folder: string, cleanups: Cleanup[]): SmallDisk {
  const disk = smallDisk(folder, DISK_BYTES)
  if (disk === undefined) throw new MissingRequirement('filling a disk needs root and Linux')
  cleanups.push(() => disk.remove())
  return disk
}

async function startMailServer(cleanups: Cleanup[]): Promise<MailServer & { address: string }> {
  const stopped: Postbox[] = []
  let postbox = await openPostbox()
  cleanups.push(() => postbox.close())
  const { address } = postbox
  const port = Number(new URL(address).port)
  const accepted = () => [...stopped, postbox].flatMap((each) => each.accepted)
  return {
    address,
    texts: () => accepted().map(({ text }) => text ?? ''),
    acceptedCounts() {
      const counts = new Map<string, number>()
      for (const { messageId = '' } of accepted()) counts.set(messageId, (counts.get(messageId) ?? 0) + 1)
      return counts
    },
    stop: () => postbox.close(),
    async restart() {
      stopped.push(postbox)
      postbox = await openPostbox(port)
    },
  }
}

/** Starts the EventStoreDB peer and FerretDB, each in a separate process. */
async function openServers(
  folder: string,
  cleanups: Cleanup[],
): Promise<Servers & { settings: Readonly<Record<string, string>> }> {
  if (FERRETDB === undefined) throw new MissingRequirement('FERRETDB_BIN is not set (test/ferretdb)')
  mkdirSync(folder)
  const log = await startPeerProcess()
  cleanups.push(() => log.stop())
  let ferret = await startFerretDB(folder)
  cleanups.push(() => ferret.kill())
  const { port } = ferret
  return {
    settings: {
      EVENT_STORE: log.url,
      READ_MODEL: databaseAt(ferret.address, 'workload'),
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
    log,
    reads: {
      freeze: () => freeze(ferret.pid),
      thaw: () => thaw(ferret.pid),
      async replace(meanwhile) {
        await ferret.kill()
        await meanwhile()
        ferret = await startFerretDB(folder, port)
      },
    },
  }
}
