import { fromDocument, STATE_FIELDS } from '../../../src/projections/diamonds/diamond-document.ts'
import type { DiamondView } from '../../../src/projections/diamonds/diamond-view.ts'
import { parseScores } from '../../../src/representations/diamond/scores-json.ts'
import type { ReadModel } from '../../../src/stores/ports/read-store.ts'

/** @throws if the read model has no such diamond */
export async function readView(model: ReadModel, id: number): Promise<DiamondView> {
  const document = await model.get(id, STATE_FIELDS)
  if (document === undefined) throw new Error(`the read model has no diamond ${id}`)
  return fromDocument(document)
}

/** The scores of a diamond; null if it has none. */
export async function readScores(model: ReadModel, id: number) {
  const { scores } = await readView(model, id)
  return scores === null ? null : parseScores(scores)
}
