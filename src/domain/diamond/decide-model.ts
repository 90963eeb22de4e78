import { Refusal } from '../refusal.ts'
import { owned } from './decide.ts'
import type { Diamond } from './diamond.ts'
import { removedModel, type StoneModel, type StoneModelEvent, type StoneModelRemoved } from './stone-model.ts'

/** A diamond, and who asks. */
type At = { readonly id: number; readonly owner: number }

/**
 * A stone has one body: another file takes the place of the one before; the same file changes nothing.
 * @throws Refusal missing, or forbidden when the diamond is another account's
 */
export function attachModel(diamond: Diamond, { id, owner }: At, model: StoneModel): StoneModelEvent[] {
  const { model: before } = owned(diamond, id, owner)
  if (before?.file.digest === model.file.digest) return []
  return [...(before === undefined ? [] : [removedModel(before)]), { type: 'StoneModelAttached', data: model }]
}

/** @throws Refusal missing, also where the diamond has none; forbidden when it is another account's */
export function detachModel(diamond: Diamond, { id, owner }: At): StoneModelRemoved[] {
  const { model } = owned(diamond, id, owner)
  if (model === undefined) throw noModel(id)
  return [removedModel(model)]
}

export const noModel = (diamond: number) => new Refusal('missing', `Diamond ${diamond} has no model`)
