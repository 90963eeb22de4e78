import { z } from 'zod'
import { isDeepStrictEqual } from 'node:util'
import {
  changeImportOptions,
  deleteImport,
  importsOf,
  readingOf,
  startImport,
  startUndo,
  uploadImport,
} from '../../../commands/imports/stock-imports.ts'
import { isAtWork, isUnapplied, type StockImport } from '../../../domain/imports/stock-import.ts'
import { RequestError } from '../../../domain/request-error.ts'
import { actorOf } from '../../diamonds/resource.ts'
import { changeOptions } from '../../imports/options.ts'
import { refuseFile, requireOwnImport, type ImportServices } from '../../imports/resource.ts'
import { stockListUpload } from '../../imports/upload.ts'
import type { BearerPrincipal } from '../../kit/authenticate.ts'
import { endpoint, type EndpointContext, type RequestBody } from '../../kit/endpoint.ts'
import { html, NOTHING, type Html } from '../../kit/html.ts'
import { alert, pathToRoot } from '../../kit/page.ts'
import { formOptions } from '../../kit/parameters/form.ts'
import { bodyReader } from '../../kit/read-body.ts'
import { seeOther, type HttpResponse } from '../../kit/response.ts'
import { describeRefusal, LOG_IN_RESPONSE, orRefusal, pressedAction } from '../forms.ts'
import { accountActions, inventoryPagesGroup } from '../layout.ts'
import { sameSiteSession, session } from '../session.ts'
import { chosenOptions, controlsOf, modeOf } from './controls.ts'
import { importPage } from './layout.ts'
import { ACTIONS, importView, uploadView, type ImportAction } from './view.ts'

const PATH = '/inventory/import/{id}'
const PARAMETERS = { id: z.string().describe('The id of an import.') } as const
const NO_STORE = { 'Cache-Control': 'no-store' }

export const showImports = endpoint({
  operationId: 'showImports',
  method: 'GET',
  path: '/inventory/import',
  summary: 'Show the form that uploads a stock list, and the imports of the last 30 days',
  auth: session,
  responses: { 200: { description: 'The page, or the log-in form', mediaType: 'text/html' } },
  group: inventoryPagesGroup,
  handler: (ctx, services: ImportServices) => uploadPage(ctx, services, 200, NOTHING),
})

type AccountRequest = Pick<EndpointContext<BearerPrincipal>, 'originalUrl' | 'state'>

async function uploadPage(
  { originalUrl, state: { principal } }: AccountRequest,
  { imports }: ImportServices,
  status: number,
  errorMessage: Html,
): Promise<HttpResponse> {
  const all = await importsOf(imports.context, principal.account)
  const home = pathToRoot(originalUrl)
  return importPage({
    status,
    title: 'Import a stock list',
    home,
    actions: accountActions(home),
    content: html`${errorMessage} ${uploadView(all.toReversed(), home)}`,
  })
}

type Upload = Awaited<ReturnType<typeof stockListUpload.read>>

const uploadForm: RequestBody<Upload | RequestError, ImportServices, BearerPrincipal> = orRefusal(stockListUpload)

export const uploadByPage = endpoint({
  operationId: 'uploadByPage',
  method: 'POST',
  path: '/inventory/import',
  summary: 'Upload a stock list with the form of the page',
  auth: sameSiteSession,
  body: uploadForm,
  responses: {
    200: LOG_IN_RESPONSE,
    303: { description: 'Uploaded', headers: { Location: 'The page of the import' } },
    422: 'The file cannot be read, or ten imports of the account wait to be applied',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: ImportServices) {
    const { body } = ctx.request
    try {
      if (body instanceof RequestError) throw body
      const uploading = uploadImport(services.imports.context, actorOf(ctx), body.file, optionsIn(body.options))
      const { stockImport } = await uploading.catch(refuseFile)
      return seeOther(`${pathToRoot(ctx.originalUrl)}inventory/import/${stockImport.id}`, NO_STORE)
    } catch (error) {
      const { status, message } = describeRefusal(error)
      return uploadPage(ctx, services, status, alert(replaceOptionNames(message)))
    }
  },
})

/** The options that the form of an upload chooses. */
function optionsIn(options: unknown) {
  const { mode: text, ...others } = options as Readonly<Record<string, unknown>>
  const { alternatives } = modeOf({})
  return changeOptions({}, { ...others, ...alternatives[Number(text ?? NaN)]?.change })
}

/** The options in messages, in the words of the page. */
const replaceOptionNames = (message: string): string =>
  message
    .replace(
      /deleteMissing cannot be combined with skipBad: it/,
      'Lines cannot be left out if the file is the whole stock: that',
    )
    .replace(/; correct them, or set skipBad to leave them out/, '; correct them, or choose to leave them out')
    .replace(/deleteMissing does/, 'The import does')

type ImportRequest = Pick<
  EndpointContext<BearerPrincipal, unknown, { readonly id: string }>,
  'originalUrl' | 'params' | 'state'
>

export const showImport = endpoint({
  operationId: 'showImport',
  method: 'GET',
  path: PATH,
  summary: 'Show what was understood of a stock list, what an import of it would do, its progress and its result',
  auth: session,
  pathParameters: PARAMETERS,
  responses: {
    200: { description: 'The page, or the log-in form', mediaType: 'text/html' },
    403: 'The import belongs to another account',
    404: 'No such import',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: ImportServices) {
    return pageOf(ctx, services, await requireOwnImport(ctx, services), 200, NOTHING)
  },
})

async function pageOf(
  { originalUrl }: ImportRequest,
  { imports }: ImportServices,
  stockImport: StockImport,
  status: number,
  errorMessage: Html,
): Promise<HttpResponse> {
  const home = pathToRoot(originalUrl)
  const reading = await readingOf(imports.context, stockImport)
  const done = isAtWork(stockImport) ? await imports.doneOf(stockImport) : 0
  return importPage({
    status,
    title: `Import of ${stockImport.name ?? 'a file'}`,
    home,
    actions: accountActions(home),
    content: html`${errorMessage} ${importView({ stockImport, reading, done })}`,
  })
}

/** Bytes and texts of the form of an import: a choice for each of a thousand columns and of 200 words. */
const FORM_LIMIT = 64 * 1024
const MAX_CHOICES = 1_300

const readForm = bodyReader({
  urlencoded: true,
  queryString: { ...formOptions('once'), parameterLimit: MAX_CHOICES },
  encoding: 'latin1',
  maxBytes: FORM_LIMIT,
  defaultType: 'application/x-www-form-urlencoded',
})

type Choices = ReadonlyMap<string, string>

/** A text for each name; of repeated names none is used. */
const importForm: RequestBody<Choices> = {
  mediaTypes: ['application/x-www-form-urlencoded', ''],
  maxBytes: FORM_LIMIT,
  read: async (ctx) =>
    new Map(
      Object.entries((await readForm(ctx)) ?? {}).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    ),
}

export const changeImportByPage = endpoint({
  operationId: 'changeImportByPage',
  method: 'POST',
  path: PATH,
  summary: 'Answer the questions of an import, apply it, undo it or delete it with the buttons of the page',
  auth: sameSiteSession,
  pathParameters: PARAMETERS,
  body: importForm,
  responses: {
    200: LOG_IN_RESPONSE,
    303: { description: 'Done', headers: { Location: 'The page of the import, or of all imports if it was deleted' } },
    400: 'The form has an unknown button',
    403: 'The import belongs to another account, or a cross-site request',
    404: 'No such import',
    409: 'The import is not in a state for it, or was changed by another request',
    422: 'A choice does not fit the file',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: ImportServices) {
    const stockImport = await requireOwnImport(ctx, services)
    const action = pressedAction(ACTIONS, ctx.request.body.get('do'))
    const page = `${pathToRoot(ctx.originalUrl)}inventory/import`
    try {
      await act(ctx, services, stockImport, action)
      return seeOther(action === 'delete' ? page : `${page}/${stockImport.id}`, NO_STORE)
    } catch (error) {
      const { status, message } = describeRefusal(error)
      return pageOf(ctx, services, await requireOwnImport(ctx, services), status, alert(replaceOptionNames(message)))
    }
  },
})

async function act(
  ctx: Parameters<typeof actorOf>[0] & { readonly request: { readonly body: Choices } },
  { imports: { context } }: ImportServices,
  stockImport: StockImport,
  action: ImportAction,
): Promise<void> {
  const { body } = ctx.request
  const { id, options } = stockImport
  const actor = actorOf(ctx)
  if (action === 'delete') await deleteImport(context, actor, id)
  else if (action === 'undo') await startUndo(context, actor, id, body.has('skipChanged'))
  else {
    const chosen = isUnapplied(stockImport) ? await optionsOf(context, stockImport, body, action) : options
    // Choices that were changed are shown with their effect before anything is applied.
    if (action === 'apply' && isDeepStrictEqual(chosen, options)) await startImport(context, actor, id)
    else await changeImportOptions(context, actor, id, chosen).catch(refuseFile)
  }
}

/** @throws RequestError conflict if the form was made for another reading of the file */
async function optionsOf(
  context: ImportServices['imports']['context'],
  stockImport: StockImport,
  choices: Choices,
  action: ImportAction,
): Promise<StockImport['options']> {
  if (choices.get('reading') !== stockImport.reading.digest)
    throw new RequestError('conflict', 'The import was changed in another window; check it again')
  const controls = controlsOf(await readingOf(context, stockImport), stockImport.options)
  return chosenOptions(controls, stockImport.options, choices, action === 'ignore')
}
