import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { copyVault } from '../../../src/maintenance/copy/installation.ts'
import { openMongo } from '../../../src/stores/mongodb/mongodb.ts'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import type { Vault, VaultItem } from '../../../src/stores/ports/vault.ts'
import { rejection } from '../../contract/event-store/given.ts'
import { mongoServer } from '../../mongo-server.ts'

const NOW = 1_000_000
const ignoreProgress = () => undefined

type OpenedVault = { readonly vault: Vault; close(): Promise<void> }

function inFile(): OpenedVault {
  const folder = mkdtempSync(join(tmpdir(), 'adamant-copied-vault-'))
  const vault = openSqliteVault(join(folder, 'vault.db'))
  return {
    vault,
    async close() {
      await vault.close()
      rmSync(folder, { recursive: true })
    },
  }
}

const server = await mongoServer('a copied vault')

function inMongo(): OpenedVault {
  const address = server?.newDatabase() ?? ''
  const stores = openMongo(address)
  return {
    vault: stores.vault,
    async close() {
      await stores.close()
      await server?.drop(address)
    },
  }
}

const digestOf = (secret: number) => createHash('sha256').update(String(secret)).digest('hex')

/** Adds an entry with a receipt and a mail. */
async function share(vault: Vault, secret: number): Promise<void> {
  const receipt = { token: 'token-1', sealed: randomBytes(40), forgottenAt: NOW * 3 }
  const entry = { digest: digestOf(secret), sealed: randomBytes(60), createdAt: NOW, expiresAt: NOW * 2, receipt }
  await vault.put(entry, [{ kind: 'link', sealed: randomBytes(80), dueAt: NOW }])
}

async function itemsOf(vault: Vault): Promise<VaultItem[]> {
  const items: VaultItem[] = []
  for await (const item of vault.contents()) items.push(item)
  return items
}

/** A vault that changes or drops items as they are restored. */
function changingVault(vault: Vault, change: (item: VaultItem) => VaultItem | undefined): Vault {
  const restore = (items: readonly VaultItem[]) => vault.restore(items.flatMap((item) => change(item) ?? []))
  return { ...vault, contents: () => vault.contents(), restore }
}

function rules(name: string, open: () => OpenedVault): void {
  const test = suite<{ from: OpenedVault; to: OpenedVault; source: Vault; target: Vault }>(
    `the copy of a vault to ${name}`,
  )
  test.before.each(async (given) => {
    given.from = inFile()
    given.to = open()
    given.source = given.from.vault
    given.target = given.to.vault
    for (let secret = 0; secret < 40; secret++) await share(given.source, secret)
  })
  test.after.each(async ({ from, to }) => {
    await from.close()
    await to.close()
  })

  test('has the same items, also if it is repeated', async ({ source, target }) => {
    const copied = { entries: 40, receipts: 40, mails: 40 }
    assert.equal(await copyVault(source, target, ignoreProgress), copied)
    assert.equal(await copyVault(source, target, ignoreProgress), copied)
    const text = (items: readonly VaultItem[]) =>
      items.map((item) => JSON.stringify({ ...item, sealed: item.sealed.toString('hex') })).toSorted()
    assert.equal(text(await itemsOf(target)), text(await itemsOf(source)))
  })

  for (const kind of ['entry', 'receipt', 'mail'] as const) {
    const chosen = (item: VaultItem) => item.kind === kind && item.digest === digestOf(7)

    test(`fails if one ${kind} differs, and names it`, async ({ source, target }) => {
      const damaging = changingVault(target, (item) => (chosen(item) ? { ...item, sealed: randomBytes(70) } : item))
      const error = await rejection(copyVault(source, damaging, ignoreProgress))
      assert.match(String(error), new RegExp(`target's ${kind} ${digestOf(7)}\\S* differs`))
      assert.match(
        String(await rejection(copyVault(source, target, ignoreProgress))),
        new RegExp(`target's ${kind} \\S+ differs`),
      )
    })

    test(`fails if one ${kind} is missing, and names it`, async ({ source, target }) => {
      const losing = changingVault(target, (item) => (chosen(item) ? undefined : item))
      const error = await rejection(copyVault(source, losing, ignoreProgress))
      assert.match(String(error), new RegExp(`target's vault lacks ${kind} ${digestOf(7)}`))
      assert.equal(await copyVault(source, target, ignoreProgress), { entries: 40, receipts: 40, mails: 40 })
    })
  }

  test('includes items that are added to the source meanwhile', async ({ source, target }) => {
    let nextSecret = 40
    const growing = changingVault(target, (item) => {
      if (nextSecret < 42) void share(source, nextSecret++)
      return item
    })
    assert.is((await copyVault(source, growing, ignoreProgress)).entries, 42)
  })

  test.run()
}

rules('a file', inFile)
if (server !== undefined) rules('MongoDB', inMongo)
