import { z } from 'zod'
import {
  changeImportOptions,
  deleteImport,
  importsOf,
  startImport,
  startUndo,
  uploadImport,
} from '../../commands/imports/stock-imports.ts'
import { mustBe, objectSchema, parseInput, requireValid } from '../../representations/parse.ts'
import { actorOf } from '../diamonds/resource.ts'
import { bearer } from '../kit/authenticate.ts'
import { waitForReadModel } from '../kit/consistency.ts'
import { endpoint, type EndpointContext, type RequestBody } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { json } from '../kit/json-body.ts'
import type { UrlServices } from '../kit/public-urls.ts'
import { created, createResponse, noContent, ok, type HttpResponse } from '../kit/response.ts'
import { changeOptions, IMPORT_OPTIONS } from './options.ts'
import {
  IMPORT,
  IMPORT_ERROR_RESPONSES,
  IMPORT_PARAMETERS,
  IMPORT_SUMMARY,
  readImportBody,
  refuseFile,
  requireOwnImport,
  toImportBody,
  toImportSummary,
  type ImportServices,
} from './resource.ts'
import { stockListUpload } from './upload.ts'

const PATH = '/v4/import/{id}'
const BODY = { description: 'The import', schema: IMPORT } as const

export const createImport = endpoint({
  operationId: 'createImport',
  method: 'POST',
  path: '/v4/import',
  summary:
    'Upload a stock list, and read what an import of it would do. Nothing is written to the inventory before it is applied.',
  auth: bearer,
  body: stockListUpload,
  group: accountGroup,
  responses: {
    201: {
      ...BODY,
      description:
        'What was understood: `state` says whether questions must be answered, lines have errors, or it is ready',
      headers: { Location: 'URL of the import' },
    },
    422: 'The file cannot be read, an option does not fit it, or ten imports of the account wait to be applied',
  },
  async handler(ctx, { imports, urls }: ImportServices & UrlServices) {
    const { file, options } = ctx.request.body
    const newOptions = changeOptions({}, options)
    const uploading = uploadImport(imports.context, actorOf(ctx), file, newOptions)
    const { stockImport, reading, position } = await uploading.catch(refuseFile)
    const headers = await waitForReadModel(ctx, imports.readModel.progress, position)
    const body = await toImportBody(stockImport, reading, imports, urls.base)
    return created(`${urls.base}/v4/import/${stockImport.id}`, body, headers)
  },
})

export const listImports = endpoint({
  operationId: 'listImports',
  method: 'GET',
  path: '/v4/import',
  summary: "List the account's imports of the last 30 days, newest first",
  auth: bearer,
  group: accountGroup,
  responses: { 200: { description: 'The imports', schema: z.array(IMPORT_SUMMARY) } },
  async handler({ state: { principal } }, { imports, urls }: ImportServices & UrlServices) {
    const all = await importsOf(imports.context, principal.account)
    return ok(await Promise.all(all.toReversed().map((one) => toImportSummary(one, imports, urls.base))))
  },
})

export const readOneImport = endpoint({
  operationId: 'readImport',
  method: 'GET',
  path: PATH,
  summary: 'Retrieve an import: what was understood of the file, its progress and its result',
  auth: bearer,
  pathParameters: IMPORT_PARAMETERS,
  group: accountGroup,
  responses: { 200: BODY, ...IMPORT_ERROR_RESPONSES },
  async handler(ctx, services: ImportServices & UrlServices) {
    return ok(await readImportBody(await requireOwnImport(ctx, services), services, services.urls.base))
  },
})

export const modifyImport = endpoint({
  operationId: 'modifyImport',
  method: 'PATCH',
  path: PATH,
  summary:
    'Change options of an import, which answers its questions: the file is read again. Options that are not sent stay ' +
    'unchanged, and so do the other columns of `map` and `mapValue`; null removes one.',
  auth: bearer,
  pathParameters: IMPORT_PARAMETERS,
  body: json(IMPORT_OPTIONS),
  group: accountGroup,
  responses: {
    200: BODY,
    ...IMPORT_ERROR_RESPONSES,
    409: 'The import is applied, or was changed by another request',
  },
  async handler(ctx, services: ImportServices & UrlServices) {
    const { imports, urls } = services
    const { id, options } = await requireOwnImport(ctx, services)
    const changed = changeOptions(options, ctx.request.body)
    const changing = changeImportOptions(imports.context, actorOf(ctx), id, changed)
    const { stockImport, reading, position } = await changing.catch(refuseFile)
    const headers = await waitForReadModel(ctx, imports.readModel.progress, position)
    return ok(await toImportBody(stockImport, reading, imports, urls.base), headers)
  },
})

export const applyImport = endpoint({
  operationId: 'applyImport',
  method: 'POST',
  path: '/v4/import/{id}/apply',
  summary:
    'Write the stones of an import. The service does it in the background, in bulks of 500; read the import for its progress.',
  auth: bearer,
  pathParameters: IMPORT_PARAMETERS,
  group: accountGroup,
  responses: {
    202: { ...BODY, description: 'Started' },
    ...IMPORT_ERROR_RESPONSES,
    409: 'The import is not ready, or another import of the account is at work',
  },
  async handler(ctx, services: ImportServices & UrlServices) {
    const { id } = await requireOwnImport(ctx, services)
    return accepted(ctx, services, await startImport(services.imports.context, actorOf(ctx), id))
  },
})

/** The response to a request whose work the service does in the background. */
async function accepted(
  ctx: Pick<EndpointContext, 'state'>,
  services: ImportServices & UrlServices,
  { stockImport, position }: Awaited<ReturnType<typeof startImport>>,
): Promise<HttpResponse> {
  const headers = await waitForReadModel(ctx, services.imports.readModel.progress, position)
  return createResponse(202, await readImportBody(stockImport, services, services.urls.base), headers)
}

const UNDO_OPTIONS = objectSchema(
  {
    skipChanged: z
      .boolean(mustBe('true or false'))
      .exactOptional()
      .describe('Leaves stones as they are that were changed after the import; otherwise nothing is undone then'),
  },
  'the options of an undo',
  '{"skipChanged": true}',
)

const undoOptions = json(UNDO_OPTIONS)

/** Without a body, an undo has no options. */
const undoBody: RequestBody<unknown> = {
  ...undoOptions,
  read: (ctx, service) =>
    Number(ctx.get('Content-Length')) > 0 || ctx.get('Transfer-Encoding') !== '' ? undoOptions.read(ctx, service) : {},
}

export const undoImport = endpoint({
  operationId: 'undoImport',
  method: 'POST',
  path: '/v4/import/{id}/undo',
  summary:
    'Undo an import: delete what it created, restore what it changed, and create again what it deleted, in the background.',
  auth: bearer,
  pathParameters: IMPORT_PARAMETERS,
  body: undoBody,
  group: accountGroup,
  responses: {
    202: { ...BODY, description: 'Started' },
    ...IMPORT_ERROR_RESPONSES,
    409: 'There is nothing to undo, or another import of the account is at work',
  },
  async handler(ctx, services: ImportServices & UrlServices) {
    const description = { name: 'the options of an undo', members: Object.keys(UNDO_OPTIONS.shape) }
    const { skipChanged = false } = requireValid(parseInput(UNDO_OPTIONS, ctx.request.body, description))
    const { id } = await requireOwnImport(ctx, services)
    return accepted(ctx, services, await startUndo(services.imports.context, actorOf(ctx), id, skipChanged))
  },
})

export const removeImport = endpoint({
  operationId: 'removeImport',
  method: 'DELETE',
  path: PATH,
  summary: 'Delete an import and its file. What it wrote stays.',
  auth: bearer,
  pathParameters: IMPORT_PARAMETERS,
  group: accountGroup,
  responses: {
    204: 'Deleted',
    ...IMPORT_ERROR_RESPONSES,
    409: 'The import is applied or undone at the moment',
  },
  async handler(ctx, services: ImportServices) {
    const { id } = await requireOwnImport(ctx, services)
    const position = await deleteImport(services.imports.context, actorOf(ctx), id)
    return noContent(await waitForReadModel(ctx, services.imports.readModel.progress, position))
  },
})
