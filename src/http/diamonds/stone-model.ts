import { z } from 'zod'
import type { ReceivedFile } from '../../commands/certifications/certifications.ts'
import type { CommandContext } from '../../commands/core/command-context.ts'
import { attachModel, removeModel, type ModelInspector } from '../../commands/diamonds/attach-model.ts'
import { diamondFold, fileLinkRevision, missingModelError, requireOwnedDiamond } from '../../domain/diamond/diamond.ts'
import type { MeshFormat } from '../../optics/mesh/mesh.ts'
import { RequestError, type ErrorDetail, type FaultCode } from '../../domain/request-error.ts'
import type { DiamondQueries } from '../../projections/diamonds/diamond-queries.ts'
import { LINK_LIFETIMES } from '../../representations/json.ts'
import {
  MAX_MODEL_BYTES,
  modelPath,
  stoneModelRepresentation,
  STONE_MODEL,
  STONE_MODEL_WITH_FILE,
} from '../../representations/stone-model.ts'
import type { FileStore } from '../../stores/ports/file-store.ts'
import {
  FORM_OVERHEAD_BYTES,
  SizeValidator,
  throwRefusal,
  type FileUploadRule,
  type UploadForm,
  type FormUploads,
} from '../files/form-uploads.ts'
import { createFileResponse, FILE_REQUEST, fileResponses, signedLink, unknownFile } from '../files/file-download.ts'
import { created, noContent, ok } from '../kit/response.ts'
import { bearer, type BearerPrincipal } from '../kit/authenticate.ts'
import { waitForReadModel, staleHeaders } from '../kit/consistency.ts'
import { endpoint, type RequestBody } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import type { SignedLinks } from '../kit/signed-links.ts'
import { actorOf, DIAMOND_ID, parseDiamondId, DIAMOND_ERROR_RESPONSES } from './resource.ts'

const fileFaults = (message: string, code: FaultCode): ErrorDetail[] => [{ pointer: '/file', message, code }]

const tooLarge = () =>
  new RequestError('too-large', fileFaults(`file must be at most ${MAX_MODEL_BYTES} bytes`, 'range'))

const emptyFile = () => new RequestError('invalid', fileFaults('file must not be empty', 'required'))

const MODEL: FileUploadRule = {
  maxBytes: MAX_MODEL_BYTES,
  createValidator: () => new SizeValidator(MAX_MODEL_BYTES, tooLarge, emptyFile),
  tooLarge,
}

/** A multipart form with exactly one part, `file`. */
const modelUpload: RequestBody<ReceivedFile, { readonly models: { readonly uploads: FormUploads } }, BearerPrincipal> =
  {
    mediaTypes: ['multipart/form-data'],
    maxBytes: MAX_MODEL_BYTES + FORM_OVERHEAD_BYTES,
    schema: z.strictObject({
      file: z.unknown().describe('The 3D file: OFF, STL (binary or text) or OBJ, in millimetres, at most 20 MB.'),
    }),
    async read(ctx, { models: { uploads } }) {
      return onlyFile(await uploads.read(ctx, MODEL).catch(throwRefusal))
    },
    release: ({ incoming }) => incoming.discard(),
  }

/** @throws RequestError invalid if the form has no file or has other parts */
async function onlyFile({ texts, file, fileError }: UploadForm): Promise<ReceivedFile> {
  const unknownPartFaults = [...texts.keys()].map((name): ErrorDetail => ({
    pointer: `/${name.slice(0, 60)}`,
    message: `Unknown part ${name.slice(0, 60)}; allowed: file`,
    code: 'unknown_field',
  }))
  const missingFileFaults =
    file === undefined && fileError === undefined
      ? fileFaults('file is required: a 3D file of the diamond', 'required')
      : []
  const faults = [...missingFileFaults, ...(fileError?.details ?? []), ...unknownPartFaults]
  if (file !== undefined && faults.length === 0) return file
  await file?.incoming.discard()
  throw new RequestError('invalid', faults)
}

export type ModelServices = {
  readonly models: {
    readonly context: CommandContext
    readonly queries: DiamondQueries
    readonly files: FileStore
    readonly uploads: FormUploads
    readonly links: SignedLinks
    readonly inspect: ModelInspector
  }
}

const PATH = '/v4/diamond/{id}/model'
const CONFLICT_RESPONSE = { 409: 'The diamond was changed by another request; send the request again' } as const

const EXAMPLE = {
  format: 'STL',
  facets: 188,
  carat: 1.203,
  measurements: { length: 6.82, width: 6.79, depth: 4.2 },
  warnings: [],
} as const

export const attachStoneModel = endpoint({
  operationId: 'attachModel',
  method: 'POST',
  path: PATH,
  summary:
    'Attach a 3D file to a diamond. It replaces an earlier one, and the optical scores are computed from its facets.',
  auth: bearer,
  pathParameters: { id: DIAMOND_ID },
  body: modelUpload,
  responses: {
    201: {
      description: 'The properties of the model. The scores are computed asynchronously, as after creating a diamond',
      schema: STONE_MODEL,
      headers: { Location: 'URL of the model' },
      example: EXAMPLE,
    },
    ...DIAMOND_ERROR_RESPONSES,
    ...CONFLICT_RESPONSE,
    422: 'The solid is not closed, not convex or degenerate, or the file is malformed; the message says where',
  },
  group: accountGroup,
  async handler(ctx, { models: { context, queries, links, inspect } }: ModelServices) {
    const id = parseDiamondId(ctx.params)
    const { model, diamond, position } = await attachModel(
      context,
      actorOf(ctx),
      id,
      ctx.request.body.incoming,
      inspect,
    )
    const headers = await waitForReadModel(ctx, queries.progress, position)
    return created(`${links.baseUrl}/v4/diamond/${id}/model`, stoneModelRepresentation(model, diamond.fields), headers)
  },
})

export const readStoneModel = endpoint({
  operationId: 'readModel',
  method: 'GET',
  path: PATH,
  summary: "Retrieve the properties of a diamond's 3D file. `file` is a link to it that is valid for 24 hours.",
  auth: bearer,
  pathParameters: { id: DIAMOND_ID },
  responses: {
    200: {
      description: 'The model',
      schema: STONE_MODEL_WITH_FILE,
      example: {
        ...EXAMPLE,
        file: 'https://api.example.com/v4/diamond/7/model/file?signature=ZxDcgAAAAAHj1VvAo0Tn3yYw9JmPq0c2',
      },
    },
    403: DIAMOND_ERROR_RESPONSES[403],
    404: 'No such diamond, or it has no 3D file',
  },
  group: accountGroup,
  async handler(ctx, { models: { queries, links } }: ModelServices) {
    const id = parseDiamondId(ctx.params)
    const { view, ageSeconds } = await queries.findDiamond(id)
    const diamond = requireOwnedDiamond(view?.diamond ?? diamondFold.initialState, id, ctx.state.principal.account)
    const { model, fields } = diamond
    if (model === undefined) throw missingModelError(id)
    const file = links.signed(modelPath(id), LINK_LIFETIMES.oneDay, fileLinkRevision(diamond))
    return ok({ ...stoneModelRepresentation(model, fields), file }, staleHeaders(ageSeconds))
  },
})

export const removeStoneModel = endpoint({
  operationId: 'removeModel',
  method: 'DELETE',
  path: PATH,
  summary: "Delete a diamond's 3D file. The scores are recomputed from the remaining data.",
  auth: bearer,
  pathParameters: { id: DIAMOND_ID },
  responses: {
    204: 'Deleted',
    403: DIAMOND_ERROR_RESPONSES[403],
    404: 'No such diamond, or it has no 3D file',
    ...CONFLICT_RESPONSE,
  },
  group: accountGroup,
  async handler(ctx, { models: { context, queries } }: ModelServices) {
    const position = await removeModel(context, actorOf(ctx), parseDiamondId(ctx.params))
    return noContent(await waitForReadModel(ctx, queries.progress, position))
  },
})

/** model/obj and model/stl are registered at https://www.iana.org/assignments/media-types; OFF is not. */
const MEDIA: Readonly<Record<MeshFormat, string>> = {
  OFF: 'application/octet-stream',
  STL: 'model/stl',
  OBJ: 'model/obj',
}

export const readModelFile = endpoint({
  operationId: 'readModelFile',
  method: 'GET',
  path: modelPath('{id}'),
  summary: "Download a diamond's 3D file. Needs the signed link in the model's `file`, which is valid for 24 hours.",
  auth: signedLink(({ models: { links } }: ModelServices) => links, 'the model'),
  pathParameters: { id: DIAMOND_ID },
  ...FILE_REQUEST,
  responses: fileResponses([...new Set(Object.values(MEDIA))]),
  group: accountGroup,
  async handler(ctx, { models: { queries, files } }: ModelServices) {
    const id = parseDiamondId(ctx.params)
    const diamond = (await queries.findDiamond(id)).view?.diamond
    if (diamond?.model === undefined || fileLinkRevision(diamond) !== ctx.state.principal.revision) throw unknownFile()
    const { format, file } = diamond.model
    return createFileResponse(ctx, files, {
      ...file,
      name: `diamond-${id}.${format.toLowerCase()}`,
      mediaType: MEDIA[format],
    })
  },
})
