import { diamondDecider, fileRevision, noModel, owned as ownedBy } from '../../domain/diamond/diamond.ts'
import { attachModel, removeModel, type InspectModel } from '../../commands/diamonds/attach-model.ts'
import type { Writing } from '../../commands/core/handle.ts'
import type { ModelFormat } from '../../domain/diamond/stone-model.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { modelPath, shownModel, STONE_MODEL, STONE_MODEL_WITH_FILE } from '../../representations/stone-model.ts'
import { LASTS } from '../../representations/json.ts'
import type { Files } from '../../stores/ports/files.ts'
import { answerFile, FILE_REQUEST, fileAnswers, linkHolder, unknownFile } from '../files/linked-file.ts'
import type { FormUploads } from '../files/form-uploads.ts'
import { created, noContent, ok } from '../kit/answer.ts'
import { bearer } from '../kit/authenticate.ts'
import { consistencyOf, staleHeaders } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import type { Links } from '../kit/links.ts'
import { modelUpload } from './model-upload.ts'
import { byOf, DIAMOND_ID, idOf, REFUSED_ONE } from './resource.ts'

/** What the resource of stones' own bodies answers from. */
export type ModelServices = {
  readonly models: {
    readonly writing: Writing
    readonly queries: DiamondQueries
    readonly files: Files
    readonly uploads: FormUploads
    readonly links: Links
    readonly inspect: InspectModel
  }
}

const PATH = '/v4/diamond/{id}/model'
const OVERTAKEN = { 409: 'Somebody else changed the diamond meanwhile; send it again' } as const

const EXAMPLE = {
  format: 'STL',
  facets: 188,
  carat: 1.203,
  measurements: { length: 6.82, width: 6.79, depth: 4.2 },
  warnings: [],
} as const

export const attachStoneModel = endpoint({
  name: 'attachModel',
  method: 'POST',
  path: PATH,
  about: 'Attaches a 3D file of the stone, in the place of the one before: its scores are traced from its own facets.',
  who: bearer,
  parameters: { id: DIAMOND_ID },
  body: modelUpload,
  answers: {
    201: {
      about: 'What the file says. The scores follow, as after a creation',
      schema: STONE_MODEL,
      headers: { Location: 'Where it can be read and removed' },
      example: EXAMPLE,
    },
    ...REFUSED_ONE,
    ...OVERTAKEN,
    422: 'The body is not closed, not convex or degenerate, or the file is broken: it says where',
  },
  family: owned,
  async run(asked, { models: { writing, queries, links, inspect } }: ModelServices) {
    const id = idOf(asked.params)
    const { model, diamond, position } = await attachModel(writing, byOf(asked), id, asked.body.incoming, inspect)
    const headers = await consistencyOf(asked, queries.progress, position)
    return created(`${links.address}/v4/diamond/${id}/model`, shownModel(model, diamond.fields), headers)
  },
})

export const readStoneModel = endpoint({
  name: 'readModel',
  method: 'GET',
  path: PATH,
  about: 'What the 3D file of a stone says, with a link that opens it for a day.',
  who: bearer,
  parameters: { id: DIAMOND_ID },
  answers: {
    200: {
      about: 'The model',
      schema: STONE_MODEL_WITH_FILE,
      example: {
        ...EXAMPLE,
        file: 'https://api.example.com/v4/diamond/7/model/file?signature=ZxDcgAAAAAHj1VvAo0Tn3yYw9JmPq0c2',
      },
    },
    403: REFUSED_ONE[403],
    404: 'There is no such diamond, or it has no model',
  },
  family: owned,
  async run(asked, { models: { queries, links } }: ModelServices) {
    const id = idOf(asked.params)
    const { view, age } = await queries.one(id)
    const diamond = ownedBy(view?.diamond ?? diamondDecider.initialState, id, asked.asker.account)
    const { model, fields } = diamond
    if (model === undefined) throw noModel(id)
    const file = links.signed(modelPath(id), LASTS.aDay, fileRevision(diamond))
    return ok({ ...shownModel(model, fields), file }, staleHeaders(age))
  },
})

export const removeStoneModel = endpoint({
  name: 'removeModel',
  method: 'DELETE',
  path: PATH,
  about: 'Removes the 3D file of a stone: its scores are computed from what else is known of it again.',
  who: bearer,
  parameters: { id: DIAMOND_ID },
  answers: {
    204: 'It is gone',
    403: REFUSED_ONE[403],
    404: 'There is no such diamond, or it has no model',
    ...OVERTAKEN,
  },
  family: owned,
  async run(asked, { models: { writing, queries } }: ModelServices) {
    const position = await removeModel(writing, byOf(asked), idOf(asked.params))
    return noContent(await consistencyOf(asked, queries.progress, position))
  },
})

/** Registered at https://www.iana.org/assignments/media-types (model/obj, model/stl); OFF is not. */
const MEDIA: Readonly<Record<ModelFormat, string>> = {
  OFF: 'application/octet-stream',
  STL: 'model/stl',
  OBJ: 'model/obj',
}

export const readModelFile = endpoint({
  name: 'readModelFile',
  method: 'GET',
  path: modelPath('{id}'),
  about: 'The 3D file of a stone, for whoever holds the link that its model shows as its `file`, for a day.',
  who: linkHolder(({ models: { links } }: ModelServices) => links, 'the model'),
  parameters: { id: DIAMOND_ID },
  ...FILE_REQUEST,
  answers: fileAnswers([...new Set(Object.values(MEDIA))]),
  family: owned,
  async run(asked, { models: { queries, files } }: ModelServices) {
    const id = idOf(asked.params)
    const diamond = (await queries.one(id)).view?.diamond
    if (diamond?.model === undefined || fileRevision(diamond) !== asked.asker.revision) throw unknownFile()
    const { format, file } = diamond.model
    return answerFile(asked, files, { ...file, name: `diamond-${id}.${format.toLowerCase()}`, media: MEDIA[format] })
  },
})
