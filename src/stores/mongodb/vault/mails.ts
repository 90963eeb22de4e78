import { randomUUID } from 'node:crypto'
import { WRITE } from '../connection.ts'
import { insertIfAbsent } from '../linearizable-reads.ts'
import { MAX_MAIL_DELAY_MS, type MailClaim, type QueuedMail, type Vault } from '../../ports/vault.ts'
import type { MailClaimDocument, MailDocument, VaultCall } from './collections.ts'

type VaultMailOperations = Pick<
  Vault,
  'claimMail' | 'renewClaim' | 'probeClaim' | 'postponeMail' | 'removeMail' | 'nextMail'
>

const PAGE = 100

/**
 * A mail is claimed, renewed and released by inserting its next claim, whose number only one process can insert; this
 * is atomic on every server. Claims are deleted only with their mail, so that no number is used twice.
 */
export const mailsIn = (call: VaultCall): VaultMailOperations => ({
  claimMail: (now, claimant, hasEnded) => claimMail(call, now, { claimant, hasEnded }),
  async renewClaim(id, claimant) {
    const last = await lastClaim(call, id)
    return last?.claimant === claimant && addClaim(call, last, { claimant, attempts: last.attempts })
  },
  probeClaim: ({ mail, number }) =>
    call(async ({ claims }) => {
      await claims.updateOne({ _id: `${mail}/${number}` }, { $set: { doubted: randomUUID() } })
    }, WRITE),
  async postponeMail(id, claimant, dueAt) {
    const last = await lastClaim(call, id)
    if (last?.claimant !== claimant) return
    await call(({ mails }) => mails.updateOne({ _id: id }, { $set: { dueAt } }), WRITE)
    await addClaim(call, last, { claimant: '', attempts: last.attempts })
  },
  removeMail: (id) =>
    call(async ({ mails, claims }) => {
      await mails.deleteOne({ _id: id })
      await claims.deleteMany({ mail: id })
    }, WRITE),
  nextMail: (now) =>
    call(async ({ mails }) => {
      const tooDistantMail = now === undefined ? null : await mails.findOne({ dueAt: { $gt: now + MAX_MAIL_DELAY_MS } })
      if (tooDistantMail !== null) return now
      const next = await mails.findOne({ dueAt: { $ne: null } }, { sort: { dueAt: 1 }, projection: { dueAt: 1 } })
      return next?.dueAt ?? undefined
    }),
})

const toMailClaim = ({ mail, claimant, number }: MailClaimDocument): MailClaim => ({ mail, claimant, number })

type MongoMailClaimRequest = { readonly claimant: string; readonly hasEnded: (claim: MailClaim) => Promise<boolean> }

async function claimMail(
  call: VaultCall,
  now: number,
  { claimant, hasEnded }: MongoMailClaimRequest,
): Promise<QueuedMail | undefined> {
  for await (const { mail, claim } of findDueMails(call, now)) {
    if (claim !== undefined && claim.claimant !== '' && !(await hasEnded(toMailClaim(claim)))) continue
    const attempts = (claim?.attempts ?? 0) + 1
    const last = claim ?? { mail: mail._id, number: 0 }
    if (!(await addClaim(call, last, { claimant, attempts }))) continue
    // The mail may have been deleted meanwhile, with its previous claims.
    if ((await call(({ mails }) => mails.findOne({ _id: mail._id }))) !== null) {
      const { _id, digest, kind, sealed } = mail
      return { id: _id, digest, kind, sealed, attempts }
    }
    await call(({ claims }) => claims.deleteMany({ mail: mail._id }), WRITE)
  }
  return undefined
}

/** Mails that are due, earliest first, each with its current claim. */
async function* findDueMails(
  call: VaultCall,
  now: number,
): AsyncIterable<{ mail: MailDocument; claim: MailClaimDocument | undefined }> {
  for (let skip = 0; ; skip += PAGE) {
    const page = await call(({ mails }) =>
      mails
        .find({ $or: [{ dueAt: { $ne: null, $lte: now } }, { dueAt: { $gt: now + MAX_MAIL_DELAY_MS } }] })
        .sort({ dueAt: 1, _id: 1 })
        .skip(skip)
        .limit(PAGE)
        .toArray(),
    )
    const claims = await claimsOf(call, page)
    for (const mail of page) yield { mail, claim: claims.get(mail._id) }
    if (page.length < PAGE) return
  }
}

async function claimsOf(
  call: VaultCall,
  mails: readonly MailDocument[],
): Promise<ReadonlyMap<string, MailClaimDocument>> {
  if (mails.length === 0) return new Map()
  const found = await call(({ claims }) => claims.find({ mail: { $in: mails.map(({ _id }) => _id) } }).toArray())
  return new Map(found.toSorted((a, b) => a.number - b.number).map((claim) => [claim.mail, claim]))
}

const lastClaim = (call: VaultCall, mail: string): Promise<MailClaimDocument | undefined> =>
  call(async ({ claims }) => (await claims.findOne({ mail }, { sort: { number: -1 } })) ?? undefined)

function addClaim(
  call: VaultCall,
  { mail, number }: Pick<MailClaimDocument, 'mail' | 'number'>,
  claim: Omit<MailClaimDocument, '_id' | 'mail' | 'number'>,
): Promise<boolean> {
  const next = number + 1
  return call(({ claims }) => insertIfAbsent(claims, { _id: `${mail}/${next}`, mail, number: next, ...claim }), WRITE)
}
