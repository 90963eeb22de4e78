import type { Document } from '../../stores/ports/read-store.ts'
import type { Projection } from './read-model.ts'
import { COUNT_TEXT, countIn, EPOCHS_KEY } from './tally.ts'

/**
 * The fields and texts in which two documents of one key differ, both folded up to the same position. How a count of an account is written
 * down depends on how its events were cut into batches: of those, what is counted has to be the same.
 */
export function differingIn(
  { declaration, tallied }: Pick<Projection<unknown>, 'declaration' | 'tallied'>,
  one: Document,
  other: Document,
): string[] {
  const isCount = tallied !== undefined && Number(one['id']) < EPOCHS_KEY
  const names = [...Object.keys(declaration.fields), ...declaration.texts]
  return names.filter((name) =>
    isCount && name === COUNT_TEXT ? counted(one) !== counted(other) : one[name] !== other[name],
  )
}

function counted(document: Document): string {
  const { before, since, epochs } = countIn(String(document[COUNT_TEXT]))
  return JSON.stringify([before + since.length, epochs])
}
