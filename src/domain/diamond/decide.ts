import { removed, type CertificationRemoved } from '../certification/certification.ts'
import { rootOfStored } from '../dictionaries/shapes.ts'
import { Refusal } from '../refusal.ts'
import { removedModel, type StoneModelRemoved } from './stone-model.ts'
import type { Diamond, DiamondCreated, DiamondDeleted, DiamondPatched, LiveDiamond } from './diamond.ts'
import {
  DEFAULTS,
  withoutDefaults,
  type Change,
  type DiamondFields,
  type FieldName,
  type NewDiamond,
} from './fields.ts'

/** @param now milliseconds since 1970; a diamond's date has whole seconds */
export function create(id: number, owner: number, fields: NewDiamond, now: number): DiamondCreated {
  return { type: 'DiamondCreated', data: { id, owner, date: Math.floor(now / 1000), set: withoutDefaults(fields) } }
}

/** Only what changes becomes an event; a patch that changes nothing is no event at all. */
export function patch(diamond: Diamond, id: number, owner: number, change: Change): DiamondPatched[] {
  const { fields } = owned(diamond, id, owner)
  const set = withoutOwnRoot(change, fields)
  const { removed } = change
  const changes = Object.fromEntries(
    names(set)
      .filter((name) => set[name] !== fields[name])
      .map((name) => [name, set[name]]),
  )
  const gone = removed.filter((name) => fields[name] !== DEFAULTS[name])
  if (Object.keys(changes).length + gone.length === 0) return []
  return [{ type: 'DiamondPatched', data: { set: changes, removed: gone } }]
}

/** A diamond's certifications and its model go with it, and each says so. */
export function remove(
  diamond: Diamond,
  id: number,
  owner: number,
): (CertificationRemoved | StoneModelRemoved | DiamondDeleted)[] {
  const { certifications, model } = owned(diamond, id, owner)
  const gone = model === undefined ? [] : [removedModel(model)]
  return [...certifications.map(removed), ...gone, { type: 'DiamondDeleted', data: {} }]
}

/**
 * The diamond, where it exists and this account owns it.
 * @throws Refusal missing, or forbidden when it is another account's
 */
export function owned(diamond: Diamond, id: number, owner: number): LiveDiamond {
  if (diamond.status !== 'live') throw new Refusal('missing', `There is no diamond ${id}`)
  if (diamond.owner !== owner) throw new Refusal('forbidden', `Diamond ${id} belongs to another account`)
  return diamond
}

/** Whoever knows roots only, and sends back the one that the stone's shape belongs to, changes nothing. */
function withoutOwnRoot({ set, shapeByRoot }: Change, fields: DiamondFields): Change['set'] {
  if (shapeByRoot !== true || set.cutShape !== rootOfStored(fields.cutShape)) return set
  const { cutShape: _root, ...rest } = set
  return rest
}

const names = (set: Readonly<Partial<DiamondFields>>) => Object.keys(set) as FieldName[]
