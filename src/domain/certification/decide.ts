import { owned } from '../diamond/decide.ts'
import type { Diamond } from '../diamond/diamond.ts'
import { Refusal } from '../refusal.ts'
import {
  removed,
  type Certification,
  type CertificationAttached,
  type CertificationRemoved,
  type NewCertification,
  type ReportRead,
  type ReportReading,
} from './certification.ts'

/** @throws Refusal missing, or forbidden when the diamond is another account's */
export function attach(
  diamond: Diamond,
  at: { readonly diamond: number; readonly owner: number },
  id: number,
  certification: NewCertification,
): CertificationAttached[] {
  owned(diamond, at.diamond, at.owner)
  return [{ type: 'CertificationAttached', data: { id, ...certification } }]
}

/** @throws Refusal missing, or forbidden when it is another account's */
export function detach(diamond: Diamond, id: number, owner: number): CertificationRemoved[] {
  const certification = certificationOf(diamond, id)
  if (diamond.status !== 'live' || certification === undefined) {
    throw new Refusal('missing', `There is no certification ${id}`)
  }
  if (diamond.owner !== owner) throw new Refusal('forbidden', `Certification ${id} belongs to another account`)
  return [removed(certification)]
}

/** What was read counts once, and only while the certification is there. */
export function recordReading(diamond: Diamond, id: number, reading: ReportReading): ReportRead[] {
  const certification = certificationOf(diamond, id)
  if (diamond.status !== 'live' || certification === undefined || certification.reading !== null) return []
  return [{ type: 'ReportRead', data: { certification: id, reading } }]
}

export function certificationOf(diamond: Diamond, id: number): Certification | undefined {
  return diamond.status === 'live' ? diamond.certifications.find((candidate) => candidate.id === id) : undefined
}
