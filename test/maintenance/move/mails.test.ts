import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MailHold } from '../../../src/maintenance/move/in-flight.ts'
import { openSqliteVault } from '../../../src/stores/sqlite/vault.ts'
import type { Vault } from '../../../src/stores/ports/vault.ts'

type Context = { folder: string; vault: Vault }
const test = suite<Context>('the mail hold of a move')
test.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'adamant-mails-'))
  context.vault = openSqliteVault(join(context.folder, 'vault.db'))
})
test.after.each(async ({ folder, vault }) => {
  await vault.close()
  rmSync(folder, { recursive: true })
})

const NOW = 1_000_000
/** The callback of `claimMail`: no holder has died. */
const noHolderDied = async () => false

async function queue(vault: Vault, digest: string, dueAt: number | null): Promise<void> {
  const entry = { digest, sealed: Buffer.from('sealed'), createdAt: NOW, expiresAt: NOW * 2, receipt: null }
  await vault.put(entry, [{ kind: 'link', sealed: Buffer.from('mail'), dueAt }])
}

test('claims due mails, so that no mailer sends them', async ({ vault }) => {
  await queue(vault, 'a'.repeat(64), NOW - 1)
  await queue(vault, 'b'.repeat(64), NOW + 60_000)
  const hold = new MailHold(vault, 'the copy', () => NOW)
  await hold.claimAllDue(() => assert.unreachable('no mail is being sent'))
  assert.is(await vault.claimMail(NOW, 'a mailer', noHolderDied), undefined)
  hold.close()
})

test('waits until mails that are being sent have left the queue', async ({ vault }) => {
  await queue(vault, 'a'.repeat(64), NOW - 1)
  const sending = await vault.claimMail(NOW, 'a mailer', noHolderDied)
  const hold = new MailHold(vault, 'the copy', () => NOW)
  const waitedFor: number[] = []
  await hold.claimAllDue((mails) => {
    waitedFor.push(mails)
    if (waitedFor.length === 2) void vault.removeMail(sending?.id ?? '')
  })
  assert.ok(waitedFor.length >= 2)
  assert.is(waitedFor[0], 1)
  hold.close()
})

test('claims the mails of a dead mailer when its claim has expired', async ({ vault }) => {
  await queue(vault, 'a'.repeat(64), NOW - 1)
  await vault.claimMail(NOW, 'a dead mailer', noHolderDied)
  let now = 0
  const hold = new MailHold(vault, 'the copy', () => NOW, { now: () => now })
  await hold.claimAllDue(() => (now += 500))
  assert.is(await vault.claimMail(NOW, 'a mailer', noHolderDied), undefined)
  hold.close()
})

test('holds the mails that an earlier run of the copy claimed at once', async ({ vault }) => {
  await queue(vault, 'a'.repeat(64), NOW - 1)
  await vault.claimMail(NOW, 'the copy', noHolderDied)
  const hold = new MailHold(vault, 'the copy', () => NOW + 1)
  await hold.claimAllDue(() => assert.unreachable('no mail is being sent'))
  assert.is(await vault.claimMail(NOW + 30_000, 'a mailer', noHolderDied), undefined)
  hold.close()
})

test.run()
