import { evolveCertifications, type Certification, type CertificationEvent } from '../certification/certification.ts'
import { accessAfter, unchangedAccess, type AccessRevisions } from './access.ts'
import { warningsOf } from '../certification/contradictions.ts'
import type { StoneModel, StoneModelEvent } from './stone-model.ts'
import { completed, DEFAULTS, type DiamondFields, type NewDiamond, type OptionalField } from './fields.ts'

export type DiamondCreated = {
  readonly type: 'DiamondCreated'
  /** owner: the account's id. date: seconds since 1970, UTC. set: only what was given. */
  readonly data: { readonly id: number; readonly owner: number; readonly date: number; readonly set: NewDiamond }
}
export type DiamondPatched = {
  readonly type: 'DiamondPatched'
  readonly data: { readonly set: Readonly<Partial<DiamondFields>>; readonly removed: readonly OptionalField[] }
}
export type DiamondDeleted = { readonly type: 'DiamondDeleted'; readonly data: Readonly<Record<string, never>> }

export type DiamondEvent = DiamondCreated | DiamondPatched | DiamondDeleted | CertificationEvent | StoneModelEvent

export type LiveDiamond = {
  readonly status: 'live'
  readonly id: number
  readonly owner: number
  readonly date: number
  readonly fields: DiamondFields
  /** In the order in which they were attached. */
  readonly certifications: readonly Certification[]
  /** Its own body, where a 3D file of it was attached; most stones have none. */
  readonly model?: StoneModel
  /** Events behind the last change by the owner: what the service found out by itself is no change of the diamond. */
  readonly readingsBehind: number
  /** Those of them after which a body has a warning. */
  readonly warningsBehind: number
  readonly accessRevisions: AccessRevisions
}

/** A deleted diamond is as unknown to its users as one that never was; its stream remembers. */
export type Diamond = { readonly status: 'unknown' } | LiveDiamond | { readonly status: 'deleted' }

export const unknown: Diamond = { status: 'unknown' }

/** Total: an event this version does not know leaves the state as it was. */
export function evolve(diamond: Diamond, event: DiamondEvent): Diamond {
  switch (event.type) {
    case 'DiamondCreated': {
      const { id, owner, date, set } = event.data
      const fields = completed(set)
      const unchanged = {
        certifications: [],
        readingsBehind: 0,
        warningsBehind: 0,
        accessRevisions: unchangedAccess,
      }
      return { status: 'live', id, owner, date, fields, ...unchanged }
    }
    case 'DiamondPatched': {
      if (diamond.status !== 'live') return diamond
      const fields = patched(diamond.fields, event.data)
      const accessRevisions = accessAfter(diamond.accessRevisions, diamond.fields, fields)
      return { ...diamond, fields, accessRevisions, readingsBehind: 0, warningsBehind: 0 }
    }
    case 'CertificationAttached':
    case 'CertificationRemoved':
    case 'ReportRead':
      return diamond.status === 'live' ? certified(diamond, event) : diamond
    case 'StoneModelAttached':
    case 'StoneModelRemoved':
      return diamond.status === 'live' ? modelled(diamond, event) : diamond
    case 'DiamondDeleted':
      return { status: 'deleted' }
    default:
      return diamond
  }
}

function certified(diamond: LiveDiamond, event: CertificationEvent): LiveDiamond {
  const certifications = evolveCertifications(diamond.certifications, event)
  if (event.type !== 'ReportRead') return { ...diamond, certifications, readingsBehind: 0, warningsBehind: 0 }
  const read = certifications.find(({ id }) => id === event.data.certification)
  const isWarned = read !== undefined && warningsOf(read, diamond.fields).length > 0
  return {
    ...diamond,
    certifications,
    readingsBehind: diamond.readingsBehind + 1,
    warningsBehind: diamond.warningsBehind + (isWarned ? 1 : 0),
  }
}

function modelled({ model: _before, ...diamond }: LiveDiamond, event: StoneModelEvent): LiveDiamond {
  const changed = { ...diamond, readingsBehind: 0, warningsBehind: 0 }
  return event.type === 'StoneModelAttached' ? { ...changed, model: event.data } : changed
}

function patched(fields: DiamondFields, { set, removed }: DiamondPatched['data']): DiamondFields {
  const defaults = Object.fromEntries(removed.map((name) => [name, DEFAULTS[name]]))
  return completed({ ...fields, ...defaults, ...set })
}
