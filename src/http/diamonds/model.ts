import { z } from 'zod'
import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import type { Writing } from '../../commands/core/handle.ts'
import { attachModel, removeModel, type InspectModel } from '../../commands/diamonds/attach-model.ts'
import { diamondDecider, fileRevision, noModel, owned as ownedBy } from '../../domain/diamond/diamond.ts'
import type { ModelFormat } from '../../domain/diamond/stone-model.ts'
import { Refusal } from '../../domain/decider.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { LASTS } from '../../representations/json.ts'
import {
  MODEL_LIMIT,
  modelPath,
  shownModel,
  STONE_MODEL,
  STONE_MODEL_WITH_FILE,
} from '../../representations/stone-model.ts'
import type { Files } from '../../stores/ports/files.ts'
import {
  AROUND,
  FormRefused,
  isMultipart,
  type FileCheck,
  type FileRule,
  type Form,
  type FormUploads,
} from '../files/form-uploads.ts'
import { answerFile, FILE_REQUEST, fileAnswers, linkHolder, unknownFile } from '../files/linked-file.ts'
import { created, noContent, ok } from '../kit/answer.ts'
import { bearer, type Caller } from '../kit/authenticate.ts'
import { consistencyOf, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type Body } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import type { Links } from '../kit/links.ts'
import { byOf, DIAMOND_ID, idOf, REFUSED_ONE } from './resource.ts'

const ofFile = (message: string) => [{ pointer: '/file', message }]

const tooLarge = () => new Refusal('too-large', ofFile(`file may have at most ${MODEL_LIMIT} bytes`))

/** Counts a 3D file's bytes; what they say is looked at when all of them are there. */
class ModelCheck implements FileCheck {
  bytes = 0

  take(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.bytes > MODEL_LIMIT) throw tooLarge()
  }

  end(): void {
    if (this.bytes === 0) throw new Refusal('invalid', ofFile('file is empty'))
  }
}

const MODEL: FileRule = { limit: MODEL_LIMIT, check: () => new ModelCheck(), tooLarge }

/** What the endpoint that takes 3D files says of its body: a form with one file, and nothing else. */
const modelUpload: Body<ReceivedFile, { readonly models: { readonly uploads: FormUploads } }, Caller> = {
  media: ['multipart/form-data'],
  upTo: MODEL_LIMIT + AROUND,
  schema: z.strictObject({
    file: z.unknown().describe('The 3D file: OFF, STL (binary or text) or OBJ, in millimetres, of at most 20 MB.'),
  }),
  async read(ctx, { asker: { account }, address }, { models: { uploads } }) {
    const type = ctx.get('Content-Type')
    if (!isMultipart(type))
      throw new Refusal('unsupported', `Content-Type must be multipart/form-data, got ${type.slice(0, 100) || 'none'}`)
    try {
      return await onlyFile(await uploads.read(ctx, { account, address }, MODEL))
    } catch (error) {
      throw error instanceof FormRefused ? error.refusal : error
    }
  },
  release: ({ incoming }) => incoming.discard(),
}

/** @throws Refusal invalid for a form that has more, or no file */
async function onlyFile({ texts, file, refused }: Form): Promise<ReceivedFile> {
  const unknown = [...texts.keys()].map((name) => ({
    pointer: `/${name.slice(0, 60)}`,
    message: `${name.slice(0, 60)} is no part of a model; it has file`,
  }))
  const missing = file === undefined && refused === undefined ? ofFile('file is required: a 3D file of the stone') : []
  const faults = [...missing, ...(refused?.faults ?? []), ...unknown]
  if (file !== undefined && faults.length === 0) return file
  await file?.incoming.discard()
  throw new Refusal('invalid', faults)
}

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
