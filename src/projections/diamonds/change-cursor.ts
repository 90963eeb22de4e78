import { Refusal } from '../../domain/refusal.ts'

/**
 * A place in the feed of an account: `EPOCH-NUMBER`, the log's epoch in which it was given and how many events of the
 * account's diamonds had come by then.
 */
export type Cursor = { readonly epoch: number; readonly number: number }

/** Digits of a number that can be told from its neighbours. */
const FORM = /^(\d{1,15})-(\d{1,15})$/

export const cursorText = ({ epoch, number }: Cursor): string => `${epoch}-${number}`

/** @param name of what it came in, for who is told that it is malformed @throws Refusal malformed */
export function cursorIn(text: string, name = 'after'): Cursor {
  const [, epoch, number] = FORM.exec(text) ?? []
  if (epoch !== undefined && number !== undefined) return { epoch: Number(epoch), number: Number(number) }
  const message = `${name} must be a cursor that the feed gave, such as 0-17, or now; got ${text.slice(0, 40)}`
  throw new Refusal('malformed', [{ pointer: name, message }])
}

/** What a cursor names was lost when the log was restored from a backup. */
export class CursorLost extends Refusal {
  /** @param restart the last place that both pasts have */
  constructor(
    cursor: Cursor,
    readonly restart: string,
  ) {
    super(
      'gone',
      `What led to ${cursorText(cursor)} was lost when the service was restored from a backup: go on from ${restart}, ` +
        'and drop what the list of diamonds does not have',
    )
  }
}

/** A cursor further on than anything that has happened. */
export const unknownCursor = (cursor: Cursor): Refusal =>
  new Refusal('malformed', [
    { pointer: 'after', message: `${cursorText(cursor)} is no cursor of this feed: it has not come so far` },
  ])
