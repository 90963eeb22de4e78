import { z } from 'zod'
import { declareEvents, type EventOf, type PayloadChange } from '../event.ts'
import { REQUIRED_MASK, storedFieldsSchema } from './stored-fields.ts'
import {
  evolveCertifications,
  certificationRemovedEvent,
  type Certification,
  type CertificationAttached,
  type CertificationEvent,
  type CertificationRemoved,
  type NewCertification,
  type ReportRead,
  type ReportReading,
} from '../certification/certification.ts'
import { warningsOf } from '../certification/warnings.ts'
import type { Fold } from '../fold.ts'
import { RequestError } from '../request-error.ts'
import { rootOfStored } from '../dictionaries/shapes.ts'
import {
  withDefaults,
  DEFAULTS,
  withoutDefaults,
  type DiamondFieldChanges,
  type DiamondFields,
  type FieldName,
  type NewDiamond,
} from './fields.ts'
import { stoneModelRemovedEvent, type StoneModel, type StoneModelEvent, type StoneModelRemoved } from './stone-model.ts'

/** Counts the changes of `access` and `dataAccess`. Signed links contain these counts, so a change invalidates them. */
type AccessRevisions = { readonly access: number; readonly dataAccess: number }

export const initialAccessRevisions: AccessRevisions = { access: 0, dataAccess: 0 }

export const nextAccessRevisions = (
  revisions: AccessRevisions,
  before: DiamondFields,
  after: DiamondFields,
): AccessRevisions => ({
  access: revisions.access + (before.access === after.access ? 0 : 1),
  dataAccess: revisions.dataAccess + (before.dataAccess === after.dataAccess ? 0 : 1),
})

type AccessRevisionHolder = { readonly accessRevisions: AccessRevisions }

/** The link to a report page depends on `access` only: `dataAccess` affects what the page shows, not who may open it. */
export const pageLinkRevision = ({ accessRevisions }: AccessRevisionHolder): number => accessRevisions.access

/** The link to a certification's file depends on both access levels. */
export const fileLinkRevision = ({ accessRevisions }: AccessRevisionHolder): number =>
  accessRevisions.access + accessRevisions.dataAccess

/** The first and the last second of the years 0 to 9999, since bodies show years with four digits. */
const CALENDAR = { first: -62_167_219_200, last: 253_402_300_799 } as const

/** A new version, so that a release which does not know these fields refuses the event instead of ignoring them. */
const WITH_PROPORTIONS: PayloadChange = {
  about: 'The fields `proportions.*` were added; absent if they are not stated.',
  upcast: (data) => data,
}

export const diamondEvents = declareEvents('diamond-{id}', {
  DiamondCreated: {
    about: 'An owner created a diamond.',
    payload: z.object({
      id: z.int().min(1).describe('id of the diamond'),
      owner: z.int().min(1).describe('id of the account'),
      date: z.int().min(CALENDAR.first).max(CALENDAR.last).describe('seconds since 1970, UTC; years 0 to 9999'),
      set: storedFieldsSchema.partial().required(REQUIRED_MASK),
    }),
    changes: [WITH_PROPORTIONS],
  },
  DiamondPatched: {
    about: 'The owner changed fields of the diamond, or removed their values.',
    payload: z.object({
      set: storedFieldsSchema.partial(),
      removed: z
        .array(storedFieldsSchema.omit(REQUIRED_MASK).keyof())
        .describe('fields that are reset to their defaults'),
    }),
    changes: [WITH_PROPORTIONS],
  },
  DiamondDeleted: { about: 'The owner deleted the diamond and its certifications.', payload: z.object({}) },
})
type DiamondEventDeclarations = typeof diamondEvents
export type DiamondCreated = EventOf<DiamondEventDeclarations, 'DiamondCreated'>
type DiamondPatched = EventOf<DiamondEventDeclarations, 'DiamondPatched'>
type DiamondDeleted = EventOf<DiamondEventDeclarations, 'DiamondDeleted'>

export type DiamondEvent = DiamondCreated | DiamondPatched | DiamondDeleted | CertificationEvent | StoneModelEvent

export type LiveDiamond = {
  readonly status: 'live'
  readonly id: number
  readonly owner: number
  readonly date: number
  readonly fields: DiamondFields
  /** In the order in which they were attached. */
  readonly certifications: readonly Certification[]
  readonly model?: StoneModel
  /** Number of ReportRead events since the last change by the owner. They do not count as a change of the diamond. */
  readonly serviceEventsSinceOwnerChange: number
  /** Number of these events that led to warnings. */
  readonly warningsSinceOwnerChange: number
  readonly accessRevisions: AccessRevisions
}

/** The API treats a deleted diamond like an unknown one. */
export type Diamond = { readonly status: 'unknown' } | LiveDiamond | { readonly status: 'deleted' }

export const diamondFold: Fold<Diamond, DiamondEvent> = { initialState: { status: 'unknown' }, evolve }

function evolve(diamond: Diamond, event: DiamondEvent): Diamond {
  switch (event.type) {
    case 'DiamondCreated': {
      const { id, owner, date, set } = event.data
      const fields = withDefaults(set)
      const initialValues = {
        certifications: [],
        serviceEventsSinceOwnerChange: 0,
        warningsSinceOwnerChange: 0,
        accessRevisions: initialAccessRevisions,
      }
      return { status: 'live', id, owner, date, fields, ...initialValues }
    }
    case 'DiamondPatched':
      return diamond.status === 'live' ? applyFieldChange(diamond, patchFields(diamond.fields, event.data)) : diamond
    case 'CertificationAttached':
    case 'CertificationRemoved':
    case 'ReportRead':
      return diamond.status === 'live' ? applyCertificationEvent(diamond, event) : diamond
    case 'StoneModelAttached':
    case 'StoneModelRemoved':
      return diamond.status === 'live' ? applyStoneModelEvent(diamond, event) : diamond
    case 'DiamondDeleted':
      return { status: 'deleted' }
    default:
      return diamond
  }
}

function applyFieldChange(diamond: LiveDiamond, fields: DiamondFields): LiveDiamond {
  const accessRevisions = nextAccessRevisions(diamond.accessRevisions, diamond.fields, fields)
  return { ...diamond, fields, accessRevisions, serviceEventsSinceOwnerChange: 0, warningsSinceOwnerChange: 0 }
}

function applyCertificationEvent(diamond: LiveDiamond, event: CertificationEvent): LiveDiamond {
  const certifications = evolveCertifications(diamond.certifications, event)
  if (event.type !== 'ReportRead')
    return { ...diamond, certifications, serviceEventsSinceOwnerChange: 0, warningsSinceOwnerChange: 0 }
  const readCertification = certifications.find(({ id }) => id === event.data.certification)
  const isWarned = readCertification !== undefined && warningsOf(readCertification, diamond.fields).length > 0
  return {
    ...diamond,
    certifications,
    serviceEventsSinceOwnerChange: diamond.serviceEventsSinceOwnerChange + 1,
    warningsSinceOwnerChange: diamond.warningsSinceOwnerChange + (isWarned ? 1 : 0),
  }
}

function applyStoneModelEvent({ model: _before, ...diamond }: LiveDiamond, event: StoneModelEvent): LiveDiamond {
  const withoutModel = { ...diamond, serviceEventsSinceOwnerChange: 0, warningsSinceOwnerChange: 0 }
  return event.type === 'StoneModelAttached' ? { ...withoutModel, model: event.data } : withoutModel
}

function patchFields(fields: DiamondFields, { set, removed }: DiamondPatched['data']): DiamondFields {
  const defaults = Object.fromEntries(removed.map((name) => [name, DEFAULTS[name]]))
  return withDefaults({ ...fields, ...defaults, ...set })
}

/** @param now milliseconds since 1970; the date is truncated to whole seconds */
export function create(id: number, owner: number, fields: NewDiamond, now: number): DiamondCreated {
  return { type: 'DiamondCreated', data: { id, owner, date: Math.floor(now / 1000), set: withoutDefaults(fields) } }
}

/** The event contains only the values that differ. No event if nothing changes. */
export function patch(diamond: Diamond, id: number, owner: number, change: DiamondFieldChanges): DiamondPatched[] {
  const { fields } = requireOwnedDiamond(diamond, id, owner)
  const set = withoutOwnRoot(change, fields)
  const { removed } = change
  const changedFields = Object.fromEntries(
    names(set)
      .filter((name) => set[name] !== fields[name])
      .map((name) => [name, set[name]]),
  )
  const removedFields = removed.filter((name) => fields[name] !== DEFAULTS[name])
  if (Object.keys(changedFields).length + removedFields.length === 0) return []
  return [{ type: 'DiamondPatched', data: { set: changedFields, removed: removedFields } }]
}

/** Removes the certifications and the model too, each with its own event. */
export function remove(
  diamond: Diamond,
  id: number,
  owner: number,
): (CertificationRemoved | StoneModelRemoved | DiamondDeleted)[] {
  const { certifications, model } = requireOwnedDiamond(diamond, id, owner)
  const modelRemovedEvents = model === undefined ? [] : [stoneModelRemovedEvent(model)]
  return [...certifications.map(certificationRemovedEvent), ...modelRemovedEvents, { type: 'DiamondDeleted', data: {} }]
}

/** @throws RequestError missing; forbidden if the diamond belongs to another account */
export function requireOwnedDiamond(diamond: Diamond, id: number, owner: number): LiveDiamond {
  if (diamond.status !== 'live') throw new RequestError('missing', `There is no diamond ${id}`)
  if (diamond.owner !== owner) throw new RequestError('forbidden', `Diamond ${id} belongs to another account`)
  return diamond
}

/** A v3 client that sends back the top-level shape of the diamond's own shape does not change it. */
function withoutOwnRoot({ set, shapeByRoot }: DiamondFieldChanges, fields: DiamondFields): DiamondFieldChanges['set'] {
  if (shapeByRoot !== true || set.cutShape !== rootOfStored(fields.cutShape)) return set
  const { cutShape: _root, ...rest } = set
  return rest
}

const names = (set: Readonly<Partial<DiamondFields>>) => Object.keys(set) as FieldName[]

type DiamondOwnership = { readonly id: number; readonly owner: number }

/**
 * Replaces the previous model, if any. No event if the file is the same.
 * @throws RequestError missing; forbidden if the diamond belongs to another account
 */
export function attachModel(diamond: Diamond, { id, owner }: DiamondOwnership, model: StoneModel): StoneModelEvent[] {
  const { model: previousModel } = requireOwnedDiamond(diamond, id, owner)
  if (previousModel?.file.digest === model.file.digest) return []
  return [
    ...(previousModel === undefined ? [] : [stoneModelRemovedEvent(previousModel)]),
    { type: 'StoneModelAttached', data: model },
  ]
}

/** @throws RequestError missing if the diamond is unknown or has no model; forbidden if it belongs to another account */
export function detachModel(diamond: Diamond, { id, owner }: DiamondOwnership): StoneModelRemoved[] {
  const { model } = requireOwnedDiamond(diamond, id, owner)
  if (model === undefined) throw missingModelError(id)
  return [stoneModelRemovedEvent(model)]
}

export const missingModelError = (diamond: number) => new RequestError('missing', `Diamond ${diamond} has no model`)

/** @throws RequestError missing; forbidden if the diamond belongs to another account */
export function attach(
  diamond: Diamond,
  ownership: { readonly diamond: number; readonly owner: number },
  id: number,
  certification: NewCertification,
): CertificationAttached[] {
  requireOwnedDiamond(diamond, ownership.diamond, ownership.owner)
  return [{ type: 'CertificationAttached', data: { id, ...certification } }]
}

/** @throws RequestError missing; forbidden if the certification belongs to another account */
export function detach(diamond: Diamond, id: number, owner: number): CertificationRemoved[] {
  const certification = findCertification(diamond, id)
  if (diamond.status !== 'live' || certification === undefined) {
    throw new RequestError('missing', `There is no certification ${id}`)
  }
  if (diamond.owner !== owner) throw new RequestError('forbidden', `Certification ${id} belongs to another account`)
  return [certificationRemovedEvent(certification)]
}

/** No event if the certification was removed or already has a reading. */
export function recordReportReading(diamond: Diamond, id: number, reading: ReportReading): ReportRead[] {
  const certification = findCertification(diamond, id)
  if (diamond.status !== 'live' || certification === undefined || certification.reading !== null) return []
  return [{ type: 'ReportRead', data: { certification: id, reading } }]
}

export function findCertification(diamond: Diamond, id: number): Certification | undefined {
  return diamond.status === 'live' ? diamond.certifications.find((candidate) => candidate.id === id) : undefined
}

/** Owners' changes and scores have separate streams, so that they never conflict. */
export const diamondStream = (id: number) => `diamond-${id}`
export const diamondIdOfStream = (stream: string): number => Number(stream.slice('diamond-'.length))

export const scoresStream = (id: number) => `scores-${id}`
