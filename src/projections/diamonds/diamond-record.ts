import { certificationEvents } from '../../domain/certification/certification.ts'
import { stoneModelEvents } from '../../domain/diamond/stone-model.ts'
import type { Document } from '../../stores/ports/read-store.ts'
import type { StoredEvent } from '../../stores/ports/event-store.ts'
import { hasScores } from '../../representations/diamond/scores-json.ts'
import { fromDocument, toDocument } from './diamond-document.ts'
import { applyEvent, isScoresEvent, type DiamondView } from './diamond-view.ts'

export const CHANGE_NUMBERS = ['created', 'fieldsChanged', 'certificationsChanged', 'scoresChanged', 'changed'] as const

/**
 * Numbers, among the account's events, of the diamond's last event of each kind; 0 if there was none. `changed`: of the
 * last event of any kind, including the deletion.
 */
export type ChangeNumbers = Readonly<Record<ChangeNumber, number>>
type ChangeNumber = (typeof CHANGE_NUMBERS)[number]

/** A literal, because several are made for each event: Object.fromEntries takes ten times as long. */
const changeNumbers = (numberOf: (name: ChangeNumber) => number): ChangeNumbers => ({
  created: numberOf('created'),
  fieldsChanged: numberOf('fieldsChanged'),
  certificationsChanged: numberOf('certificationsChanged'),
  scoresChanged: numberOf('scoresChanged'),
  changed: numberOf('changed'),
})

const UNCHANGED = changeNumbers(() => 0)

/**
 * A diamond with the data for the change feed. A deleted diamond stays, for the feed only: its owner is NO_OWNER, so no
 * list or count includes it.
 */
export type DiamondRecord = ChangeNumbers & {
  readonly id: number
  /** The owner, also of a deleted diamond. */
  readonly account: number
  readonly sku: string
  /** undefined if deleted. */
  readonly view: DiamondView | undefined
}

/** The owner of deleted diamonds in documents. */
export const NO_OWNER = 0

/** @throws Error for a document loaded without `state` */
export function isDeleted({ state }: Document): boolean {
  if (state === undefined) throw new Error('state must be loaded to tell whether a diamond is deleted')
  return state === ''
}

/** @param number the event's number within its account */
export function evolveRecord(
  record: DiamondRecord | undefined,
  event: StoredEvent,
  number: number,
): DiamondRecord | undefined {
  if (record !== undefined && record.view === undefined) return record
  const view = applyEvent(record?.view, event)
  if (view === record?.view) return record
  if (view !== undefined) {
    const { id, owner, fields } = view.diamond
    return {
      ...nextChangeNumbers(record ?? UNCHANGED, event, record?.view, view, number),
      id,
      account: owner,
      sku: fields.sku,
      view,
    }
  }
  return record && { ...record, changed: number, view }
}

function nextChangeNumbers(
  previous: ChangeNumbers,
  event: StoredEvent,
  before: DiamondView | undefined,
  view: DiamondView,
  number: number,
): ChangeNumbers {
  // New proportions remove the scores of the old ones.
  const isUnscored = before !== undefined && hasScores(before.scores) && view.scores === null
  const scoresChanged = isUnscored ? number : previous.scoresChanged
  return { ...previous, scoresChanged, [numberFieldOf(event)]: number, changed: number }
}

function numberFieldOf(event: StoredEvent): ChangeNumber {
  // The 3D model is not a member of a diamond's body: its visible effect is on the scores.
  if (isScoresEvent(event) || Object.hasOwn(stoneModelEvents, event.type)) return 'scoresChanged'
  if (Object.hasOwn(certificationEvents, event.type)) return 'certificationsChanged'
  return event.type === 'DiamondCreated' ? 'created' : 'fieldsChanged'
}

/** @param empty a document of the model with default values */
export function recordToDocument(record: DiamondRecord, empty: Document): Document {
  const { id, account, sku, view } = record
  const document = view === undefined ? { ...empty, id, owner: NO_OWNER, sku } : toDocument(view)
  return { ...document, account, ...changeNumbers((name) => record[name]) }
}

export function recordFromDocument(document: Document): DiamondRecord {
  const view = isDeleted(document) ? undefined : fromDocument(document)
  const { id, account, sku } = document
  return { id: Number(id), account: Number(account), sku: String(sku), view, ...parseChangeNumbers(document) }
}

/**
 * A diamond rebuilt by a retry: everything it shows may have changed.
 * @param before the stored document
 */
export function renumberDocument(document: Document, before: Document | undefined, number: number): Document {
  const created = before === undefined || isDeleted(before) ? number : Number(before['created'])
  return { ...document, ...changeNumbers(() => number), created }
}

export const parseChangeNumbers = (document: Document): ChangeNumbers => changeNumbers((name) => Number(document[name]))
