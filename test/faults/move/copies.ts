import { randomBytes } from 'node:crypto'
import * as assert from 'uvu/assert'
import { LinkKeys } from '../../../src/commands/installation/link-key.ts'
import type { MasterKeys } from '../../../src/credentials/master-keys.ts'
import { STORES_STREAM } from '../../../src/domain/installation/installation.ts'
import { COPY_STREAM } from '../../../src/domain/installation/read-only-state.ts'
import type { Installation } from '../../../src/wiring/installation.ts'
import { openInstallation } from '../../../src/wiring/open-installation.ts'
import { readSettings } from '../../../src/wiring/settings.ts'
import type { EventStore, StoredEvent } from '../../../src/stores/ports/event-store.ts'
import type { FileStore } from '../../../src/stores/ports/file-store.ts'
import type { Vault } from '../../../src/stores/ports/vault.ts'
import { all, event } from '../../contract/event-store/given.ts'
import type { InstallationConfig } from '../../cli/move/moving.ts'

/** With their mails, more than the 100 items of the vault that are copied together. */
const SECRETS = 60
/** Files of more than one chunk. */
const FILES = 4
const FILE_BYTES = 300_000
/** Number of mails that are due; the others wait for the end of their secrets. */
const DUE = 2

/** Fills an installation through its stores, with `events` events and some pages of everything else. */
export const fillStores = (config: InstallationConfig, events: number): Promise<void> =>
  withInstallationOf(config, async ({ store, context, files, vault, keys }) => {
    await LinkKeys.open(context, keys)
    const appends = Array.from(
      { length: events },
      (_, n) => ({ stream: `diamond-${n + 1}`, expected: 'none', events: [event(n)] }) as const,
    )
    await store.appendMany(appends)
    for (let file = 0; file < FILES; file++) await storeFile(files, randomBytes(FILE_BYTES))
    for (let secret = 0; secret < SECRETS; secret++) await storeSecret(vault, keys, secret)
  })

async function storeFile(files: FileStore, bytes: Buffer): Promise<void> {
  const incoming = await files.receive()
  for (let from = 0; from < bytes.length; from += 65_536) await incoming.write(bytes.subarray(from, from + 65_536))
  ;(await incoming.keep()).release()
}

async function storeSecret(vault: Vault, keys: MasterKeys, secret: number): Promise<void> {
  const now = Date.now()
  // Each value in the vault starts with the id of the key that sealed it.
  const sealed = () => Buffer.concat([Buffer.from(keys.current.id, 'hex'), randomBytes(60)])
  const receipt = { token: 'token-1', sealed: randomBytes(40), forgottenAt: now + 3_600_000 }
  const entry = {
    digest: randomBytes(32).toString('hex'),
    sealed: sealed(),
    createdAt: now,
    expiresAt: now + 3_600_000,
    receipt,
  }
  await vault.put(entry, [{ kind: 'notice', sealed: sealed(), dueAt: secret < DUE ? now : null }])
}

/** Opens an installation, which other processes may have open too. */
export async function withInstallationOf<Result>(
  { dataDir, settings }: InstallationConfig,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const installation = await openInstallation(readSettings({ LOG_LEVEL: 'silent', ...settings, DATA_DIR: dataDir }))
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

/** Asserts that the target has all data of the source exactly once, and that only the target accepts writes. */
export const assertMoved = (from: InstallationConfig, to: InstallationConfig): Promise<void> =>
  withInstallationOf(from, (source) =>
    withInstallationOf(to, async (target) => {
      assert.is((await source.store.closedReason())?.why, 'fenced')
      assert.is(await target.store.closedReason(), undefined)
      const types = (await target.store.readStream(COPY_STREAM)).map(({ type }) => type)
      assert.equal(types, ['CopyBegun', 'CopyDone'])
      const events = await eventsOf(source.store)
      const copied = await eventsOf(target.store)
      assert.is(copied.pop()?.type, 'LogOpened')
      assert.is(copied.length, events.length)
      for (const [index, event] of events.entries()) assert.equal(copied[index], event)
      assert.equal(await filesOf(target.files), await filesOf(source.files))
      assert.equal(await itemsOf(target.vault), await itemsOf(source.vault))
    }),
  )

/** The copied events without their positions. */
async function eventsOf(store: EventStore): Promise<Omit<StoredEvent, 'position'>[]> {
  const events = (await all(store.readAll('start'))).filter(
    ({ stream }) => stream !== COPY_STREAM && stream !== STORES_STREAM,
  )
  return events.map((event) => {
    const { position: _, ...rest } = event
    return rest
  })
}

async function filesOf(files: FileStore): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  for (const { digest } of await all(files.list())) {
    let bytes = 0
    for await (const chunk of (await files.readFile(digest)) ?? []) bytes += (chunk as Buffer).length
    found.set(digest, bytes)
  }
  return new Map([...found].toSorted())
}

const itemsOf = async (vault: Vault): Promise<string[]> =>
  (await all(vault.contents()))
    .map((item) => JSON.stringify({ ...item, confirmed: true, sealed: item.sealed.toString('hex') }))
    .toSorted()
