import { certificationEvents } from '../../domain/certification/certification.ts'
import { stoneModelEvents } from '../../domain/diamond/stone-model.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { hasScores } from '../../representations/diamond/scores-json.ts'
import { fromDocument, toDocument } from './diamond-document.ts'
import { applyEvent, isScoresEvent, type DiamondView } from './diamond-view.ts'

/** The numbers, among the events of its account, of a diamond's last events of each kind; 0 where there was none. */
export type ChangeNumbers = {
  readonly created: number
  readonly fieldsChanged: number
  readonly certificationsChanged: number
  readonly scoresChanged: number
  /** Of the last one, its deletion too. */
  readonly changed: number
}

export const CHANGE_NUMBERS = [
  'created',
  'fieldsChanged',
  'certificationsChanged',
  'scoresChanged',
  'changed',
] as const satisfies readonly (keyof ChangeNumbers)[]

const UNCHANGED: ChangeNumbers = {
  created: 0,
  fieldsChanged: 0,
  certificationsChanged: 0,
  scoresChanged: 0,
  changed: 0,
}

/**
 * A diamond with what the feed of changes needs of it. What was deleted stays, for the feed alone: its owner is nobody, so
 * that no list shows it, and no count.
 */
export type DiamondRecord = ChangeNumbers & {
  readonly id: number
  /** Whose it is, or was. */
  readonly account: number
  readonly sku: string
  /** undefined once it was deleted. */
  readonly view: DiamondView | undefined
}

/** The owner of what was deleted. */
export const NO_OWNER = 0

/** @throws Error for a document that was loaded without its texts */
export function isDeleted({ state }: Document): boolean {
  if (state === undefined) throw new Error('state must be loaded to tell whether a diamond is deleted')
  return state === ''
}

/** @param number of the event among those of its account */
export function evolveRecord(
  known: DiamondRecord | undefined,
  event: StoredEvent,
  number: number,
): DiamondRecord | undefined {
  if (known !== undefined && known.view === undefined) return known
  const view = applyEvent(known?.view, event)
  if (view === known?.view) return known
  if (view !== undefined) {
    const { id, owner, fields } = view.diamond
    return {
      ...nextChangeNumbers(known ?? UNCHANGED, event, known?.view, view, number),
      id,
      account: owner,
      sku: fields.sku,
      view,
    }
  }
  return known && { ...known, changed: number, view }
}

function nextChangeNumbers(
  { created, fieldsChanged, certificationsChanged, scoresChanged }: ChangeNumbers,
  event: StoredEvent,
  before: DiamondView | undefined,
  view: DiamondView,
  number: number,
): ChangeNumbers {
  const kind = numberFieldOf(event)
  // Other proportions take the scores of the old ones away.
  const isUnscored = before !== undefined && hasScores(before.scores) && view.scores === null
  return {
    created: kind === 'created' ? number : created,
    fieldsChanged: kind === 'fieldsChanged' ? number : fieldsChanged,
    certificationsChanged: kind === 'certificationsChanged' ? number : certificationsChanged,
    scoresChanged: kind === 'scoresChanged' || isUnscored ? number : scoresChanged,
    changed: number,
  }
}

function numberFieldOf(event: StoredEvent): keyof ChangeNumbers {
  // A body of its own is no member of a stone's: what changes by it are the scores.
  if (isScoresEvent(event) || Object.hasOwn(stoneModelEvents, event.type)) return 'scoresChanged'
  if (Object.hasOwn(certificationEvents, event.type)) return 'certificationsChanged'
  return event.type === 'DiamondCreated' ? 'created' : 'fieldsChanged'
}

/** @param empty a document of the model with nothing in it */
export function recordToDocument(followed: DiamondRecord, empty: Document): Document {
  const { id, account, sku, view } = followed
  const shown = view === undefined ? { ...empty, id, owner: NO_OWNER, sku } : toDocument(view)
  return { ...shown, account, ...numbersOf(followed) }
}

export function recordFromDocument(document: Document): DiamondRecord {
  const view = isDeleted(document) ? undefined : fromDocument(document)
  const { id, account, sku } = document
  return { id: Number(id), account: Number(account), sku: String(sku), view, ...numbersIn(document) }
}

/**
 * A diamond that was folded again after it had been set aside: whatever it shows may be new.
 * @param before what was shown of it until then
 */
export function renumberDocument(document: Document, before: Document | undefined, number: number): Document {
  const created = before === undefined || isDeleted(before) ? number : Number(before['created'])
  return {
    ...document,
    created,
    fieldsChanged: number,
    certificationsChanged: number,
    scoresChanged: number,
    changed: number,
  }
}

export const numbersIn = (document: Document): ChangeNumbers => ({
  created: Number(document['created']),
  fieldsChanged: Number(document['fieldsChanged']),
  certificationsChanged: Number(document['certificationsChanged']),
  scoresChanged: Number(document['scoresChanged']),
  changed: Number(document['changed']),
})

const numbersOf = ({ created, fieldsChanged, certificationsChanged, scoresChanged, changed }: ChangeNumbers) => ({
  created,
  fieldsChanged,
  certificationsChanged,
  scoresChanged,
  changed,
})
