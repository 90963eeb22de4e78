import { randomBytes } from 'node:crypto'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import {
  MAX_MAIL_DELAY_MS,
  type MailClaim,
  type NewMail,
  type Vault,
  type VaultEntry,
  type VaultItem,
} from '../../src/stores/ports/vault.ts'

const receipt = { token: 'token-1', sealed: Buffer.from('receipt'), forgottenAt: 3000 }
const entry = (given: Partial<VaultEntry> = {}): VaultEntry => ({
  digest: randomBytes(32).toString('hex'),
  sealed: Buffer.from('sealed value'),
  createdAt: 1000,
  expiresAt: 2000,
  receipt,
  ...given,
})
const link: NewMail = { kind: 'link', sealed: Buffer.from('letter with a link'), dueAt: 1000 }
const notice: NewMail = { kind: 'notice', sealed: Buffer.from('notice'), dueAt: null }

const receiptName = ({ digest }: VaultEntry) => ({ digest, forgottenAt: receipt.forgottenAt })

/** Predicates that tell `claimMail` whether the claimant of a mail has ended. */
const noneEnded = async () => false
const allEnded = async () => true
const hasEnded = (claimant: string) => async (claim: MailClaim) => claim.claimant === claimant

type Given = { vault: Vault }

/**
 * Runs the rules of the vault port (src/stores/ports/vault.ts) on an adapter.
 * @param open opens an empty vault for one rule, which closes it
 */
export function vaultContract(name: string, open: () => Promise<Vault>): void {
  const test = suite<Given>(name)
  test.before.each(async (given) => {
    given.vault = await open()
  })
  test.after.each(({ vault }) => vault.close())

  test('returns an entry byte for byte', async ({ vault }) => {
    const put = entry({ sealed: randomBytes(40_000) })
    await vault.put(put, [])
    assert.equal(await vault.readSecret(put.digest), put.sealed)
  })

  test('returns nothing for an unknown digest', async ({ vault }) => {
    assert.is(await vault.readSecret('00'), undefined)
  })

  test('rejects a second entry with the same digest and keeps the first', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [])
    const second = vault.put({ ...put, sealed: Buffer.from('other') }, [link])
    assert.is(
      await second.then(
        () => 'put',
        () => 'rejected',
      ),
      'rejected',
    )
    assert.equal(await vault.readSecret(put.digest), put.sealed)
    assert.is(await vault.claimMail(5000, 'me', noneEnded), undefined)
  })

  test('deletes an ended entry and its link mail, and keeps its receipt', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [link])
    await vault.end([{ digest: put.digest }])
    assert.is(await vault.readSecret(put.digest), undefined)
    assert.is(await vault.claimMail(5000, 'me', noneEnded), undefined)
    assert.equal(
      await vault.receipts([receiptName(put), { ...receiptName(put), digest: '00' }]),
      new Map([[put.digest, receipt]]),
    )
  })

  test('makes the notice due when the secret was read, once', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [link, notice])
    assert.is((await vault.claimMail(1500, 'me', noneEnded))?.kind, 'link')
    await vault.end([{ digest: put.digest, noticeAt: 1700 }])
    await vault.end([{ digest: put.digest, noticeAt: 9000 }])
    assert.is(await vault.nextMail(), 1700)
    assert.is((await vault.claimMail(1700, 'me', noneEnded))?.kind, 'notice')
  })

  test('deletes the notice of a secret that was not read', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [notice])
    await vault.end([{ digest: put.digest }])
    await vault.end([{ digest: put.digest, noticeAt: 1700 }])
    assert.is(await vault.nextMail(), undefined)
  })

  test('assigns a mail to one claimant until that one has ended', async ({ vault }) => {
    await vault.put(entry(), [link])
    const claims = await Promise.all([vault.claimMail(1500, 'a', noneEnded), vault.claimMail(1500, 'b', noneEnded)])
    const [mail, ...others] = claims.filter((claim) => claim !== undefined)
    assert.is(others.length, 0)
    assert.is(await vault.claimMail(1e15, 'c', noneEnded), undefined)
    assert.is((await vault.claimMail(1500, 'c', allEnded))?.attempts, 2)
    const holder = claims[0] === undefined ? 'b' : 'a'
    assert.is(await vault.renewClaim(mail?.id ?? '', holder), false)
  })

  test('assigns the mail of an ended claimant to exactly one of several others', async ({ vault }) => {
    await vault.put(entry(), [link])
    await vault.claimMail(1500, 'a', noneEnded)
    const claims = await Promise.all(['b', 'c', 'd', 'e'].map((other) => vault.claimMail(1500, other, hasEnded('a'))))
    assert.is(claims.filter((mail) => mail !== undefined).length, 1)
  })

  test('increments the number of a claim at each renewal, but not at a probe by another process', async ({ vault }) => {
    await vault.put(entry(), [link])
    const id = (await vault.claimMail(1500, 'a', noneEnded))?.id ?? ''
    const currentClaim = async () => {
      const claims: MailClaim[] = []
      await vault.claimMail(1500, 'b', async (claim) => claims.push(claim) < 0)
      assert.is(claims.length, 1)
      return claims[0] as MailClaim
    }
    const first = await currentClaim()
    assert.equal([first.mail, first.claimant], [id, 'a'])
    await vault.probeClaim(first)
    assert.equal(await currentClaim(), first)
    assert.is(await vault.renewClaim(id, 'a'), true)
    const second = await currentClaim()
    assert.ok(second.number > first.number)
    await vault.postponeMail(id, 'a', 1500)
    await vault.claimMail(1500, 'a', noneEnded)
    assert.ok((await currentClaim()).number > second.number)
  })

  test('lets only its claimant renew or postpone a mail', async ({ vault }) => {
    await vault.put(entry(), [link])
    const mail = await vault.claimMail(1500, 'a', noneEnded)
    const id = mail?.id ?? ''
    assert.is(await vault.renewClaim(id, 'b'), false)
    assert.is(await vault.renewClaim(id, 'a'), true)
    await vault.postponeMail(id, 'b', 1501)
    assert.is(await vault.nextMail(), 1000)
    await vault.postponeMail(id, 'a', 4000)
    assert.is(await vault.nextMail(), 4000)
    assert.is(await vault.claimMail(3999, 'b', allEnded), undefined)
    await vault.removeMail(id)
    assert.is(await vault.nextMail(), undefined)
  })

  test('assigns a mail whose due time is implausibly far ahead, and respects plausible due times', async ({
    vault,
  }) => {
    const ahead = 1500 + 30 * 86_400_000
    await vault.put(entry(), [{ ...link, dueAt: ahead }])
    assert.is(await vault.nextMail(1500), 1500)
    const id = (await vault.claimMail(1500, 'a', noneEnded))?.id ?? ''
    assert.is(await vault.claimMail(1500, 'b', noneEnded), undefined)
    assert.is((await vault.claimMail(1500, 'b', allEnded))?.attempts, 2)
    await vault.postponeMail(id, 'b', 1500 + MAX_MAIL_DELAY_MS)
    assert.is(await vault.nextMail(1500), 1500 + MAX_MAIL_DELAY_MS)
    assert.is(await vault.claimMail(1500, 'a', noneEnded), undefined)
    assert.is((await vault.claimMail(1500 + MAX_MAIL_DELAY_MS, 'a', noneEnded))?.attempts, 3)
  })

  test('lists an entry as expired from the millisecond of its expiry', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [])
    await vault.put(entry({ expiresAt: 2001 }), [])
    assert.equal(await vault.expired(1999, 10), [])
    assert.equal(await vault.expired(2000, 10), [put.digest])
  })

  test('lists unconfirmed entries and mails until they are confirmed', async ({ vault }) => {
    const [first, second] = [entry(), entry()]
    await vault.put(first, [link])
    await vault.put(second, [notice])
    await vault.end([{ digest: second.digest, noticeAt: 1100 }])
    assert.equal((await vault.unconfirmed(1001, 10)).sort(), [first.digest, second.digest].sort())
    await vault.confirm([first.digest, second.digest])
    assert.equal(await vault.unconfirmed(9000, 10), [])
  })

  test('deletes receipts at their expiry', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [])
    await vault.deleteExpiredReceipts(2999)
    assert.is((await vault.receipts([receiptName(put)])).size, 1)
    await vault.deleteExpiredReceipts(3000)
    assert.is((await vault.receipts([receiptName(put)])).size, 0)
  })

  test('stores a checkpoint together with ended entries', async ({ vault }) => {
    const position = { commit: 9_007_199_254_740_993n, prepare: 0n }
    const checkpoint = { position, log: 'a log', event: { id: 'an event', position } }
    assert.is(await vault.checkpoint(), undefined)
    await vault.end([], { position: 'start', log: 'a log', event: null })
    await vault.end([], checkpoint)
    assert.equal(await vault.checkpoint(), checkpoint)
  })

  test('finds values sealed by another master key and replaces them, unless they have changed', async ({ vault }) => {
    const [old, current] = ['0102030405060708', '1112131415161718']
    const sealedBy = (key: string) => Buffer.concat([Buffer.from(key, 'hex'), randomBytes(20)])
    const put = entry({ sealed: sealedBy(old) })
    await vault.put(put, [{ ...link, sealed: sealedBy(current) }])
    const [found, ...more] = await vault.findSealedByOtherKeys('entry', current, '', 10)
    assert.equal(more, [])
    assert.equal(await vault.findSealedByOtherKeys('mail', current, '', 10), [])
    if (found === undefined) return assert.unreachable('the entry was not found')
    const again = sealedBy(current)
    await vault.reseal(found, again)
    assert.equal(await vault.readSecret(put.digest), again)
    await vault.reseal(found, sealedBy(old))
    assert.equal(await vault.readSecret(put.digest), again)
    assert.equal(await vault.findSealedByOtherKeys('entry', current, '', 10), [])
  })

  test('lists values sealed by another master key in pages after a name', async ({ vault }) => {
    const sealed = Buffer.from('by an older key')
    const digests = ['aa', 'bb', 'cc'].map((start) => start.padEnd(64, '0'))
    for (const digest of digests.toReversed()) await vault.put(entry({ digest, sealed }), [link, notice])
    const entries = await vault.findSealedByOtherKeys('entry', '1112131415161718', digests[0] ?? '', 10)
    assert.equal(
      entries.map(({ name }) => name),
      digests.slice(1),
    )
    const mails = await vault.findSealedByOtherKeys('mail', '1112131415161718', `${digests[0]}/notice`, 3)
    assert.equal(
      mails.map(({ name }) => name),
      [`${digests[1]}/link`, `${digests[1]}/notice`, `${digests[2]}/link`],
    )
  })

  test('lists all its contents and restores them unchanged', async ({ vault }) => {
    const ended = entry()
    await vault.put(ended, [link, notice])
    await vault.end([{ digest: ended.digest, noticeAt: 1700 }])
    await vault.confirm([ended.digest])
    const waiting = Array.from({ length: 120 }, () => entry({ sealed: randomBytes(40), receipt: null }))
    await Promise.all(waiting.map((each) => vault.put(each, [link])))
    const items = await contentsOf(vault)
    assert.equal(
      items.filter(({ digest }) => digest === ended.digest),
      [
        { kind: 'receipt', digest: ended.digest, ...receipt },
        {
          kind: 'mail',
          digest: ended.digest,
          mail: 'notice',
          sealed: notice.sealed,
          createdAt: 1000,
          dueAt: 1700,
          confirmed: true,
        },
      ],
    )
    assert.equal(
      new Map(items.filter(({ kind }) => kind === 'entry').map(({ digest, sealed }) => [digest, sealed])),
      new Map(waiting.map(({ digest, sealed }) => [digest, sealed])),
    )
    assert.is(items.filter(({ kind }) => kind === 'mail').length, 121)
    await vault.end(waiting.map(({ digest }) => ({ digest })))
    await vault.restore(items)
    await vault.restore(items)
    assert.equal(sorted(await contentsOf(vault)), sorted(items))
  })

  test('keeps an existing entry when a copy of it is restored', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [])
    const { digest, createdAt, expiresAt } = put
    await vault.restore([
      { kind: 'entry', digest, sealed: Buffer.from('other'), createdAt, expiresAt, confirmed: true },
    ])
    assert.equal(await vault.readSecret(digest), put.sealed)
  })

  test('counts its secrets, receipts and mails to be sent', async ({ vault }) => {
    assert.equal(await vault.counts(), { secrets: 0, receipts: 0, mails: 0 })
    const [read, kept] = [entry(), entry({ receipt: null })]
    await vault.put(read, [link, notice])
    await vault.put(kept, [link])
    assert.equal(await vault.counts(), { secrets: 2, receipts: 1, mails: 2 })
    await vault.end([{ digest: read.digest }])
    assert.equal(await vault.counts(), { secrets: 1, receipts: 1, mails: 1 })
  })

  test('confirms that deleted values have been shredded', async ({ vault }) => {
    const put = entry()
    await vault.put(put, [])
    await vault.end([{ digest: put.digest }])
    assert.is(await vault.shred(), true)
  })

  test('can be closed twice', async ({ vault }) => {
    await vault.put(entry(), [])
    await vault.close()
    await vault.close()
  })

  test.run()
}

async function contentsOf(vault: Vault): Promise<VaultItem[]> {
  const items: VaultItem[] = []
  for await (const item of vault.contents()) items.push(item)
  return items
}

const sorted = (items: readonly VaultItem[]) => items.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
const nameOf = (item: VaultItem) => `${item.kind}/${item.digest}/${item.kind === 'mail' ? item.mail : ''}`
