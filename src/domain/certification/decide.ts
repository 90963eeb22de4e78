import { owned } from '../diamond/decide.ts'
import type { Diamond } from '../diamond/diamond.ts'
import { Refusal } from '../refusal.ts'
import {
  removed,
  type Certification,
  type CertificationAttached,
  type CertificationRemoved,
  type Mismatch,
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
  const mismatches = mismatchesOf(certification, diamond.fields.carat, reading)
  return [{ type: 'ReportRead', data: { certification: id, reading, mismatches } }]
}

export function certificationOf(diamond: Diamond, id: number): Certification | undefined {
  return diamond.status === 'live' ? diamond.certifications.find((candidate) => candidate.id === id) : undefined
}

function mismatchesOf({ number }: Certification, carat: number, reading: ReportReading): Mismatch[] {
  const mismatches: Mismatch[] = []
  if (number !== null && reading.number !== null && bare(number) !== bare(reading.number)) {
    mismatches.push({ field: 'number', given: number, read: reading.number })
  }
  if (reading.carat !== null && Math.abs(reading.carat - carat) > CARAT_TOLERANCE) {
    mismatches.push({ field: 'carat', given: carat, read: reading.carat })
  }
  return mismatches
}

/** Laboratories print two or three decimals, and owners round: half of the second decimal, and what binary adds. */
const CARAT_TOLERANCE = 0.005_001

/** `LG 123-45` and `lg12345` are one number. */
const bare = (number: string) => number.replaceAll(/[^0-9a-z]/gi, '').toUpperCase()
