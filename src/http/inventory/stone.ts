import { attachCertification } from '../../commands/certifications/certifications.ts'
import { changeDiamond, planDelete, planPatch } from '../../commands/diamonds/diamonds.ts'
import type { DiamondFieldChanges } from '../../domain/diamond/fields.ts'
import { parseId } from '../../domain/entity-id.ts'
import { RequestError } from '../../domain/request-error.ts'
import { readDiamondHistory } from '../../projections/history/diamond-history.ts'
import { parseCertification } from '../../representations/certification.ts'
import { parseFieldChanges } from '../../representations/diamond/parse-diamond.ts'
import { requireValid } from '../../representations/parse.ts'
import type { Position } from '../../stores/ports/event-store.ts'
import { pdfForm } from '../certifications/upload.ts'
import type { CertificationServices } from '../certifications/resource.ts'
import { actorOf, DIAMOND_ID, type DiamondServices } from '../diamonds/resource.ts'
import type { UploadForm } from '../files/form-uploads.ts'
import type { BearerPrincipal } from '../kit/authenticate.ts'
import { waitForReadModel } from '../kit/consistency.ts'
import { endpoint, type EndpointContext, type RequestBody } from '../kit/endpoint.ts'
import { html } from '../kit/html.ts'
import { alert, pathToRoot } from '../kit/page.ts'
import { seeOther } from '../kit/response.ts'
import { reportPageResponse } from '../report/layout.ts'
import { ownersReport } from '../report/owners-page.ts'
import { describeRefusal, LOG_IN_RESPONSE, orRefusal, ownPageIn, pressedAction } from './forms.ts'
import { formPage, inventoryLink, inventoryPagesGroup } from './layout.ts'
import { sameSiteSession, session } from './session.ts'
import { ownStonesOf, STONE_ACTIONS, stoneForms, type StoneAction } from './stone-forms.ts'

const PATH = '/inventory/{id}'
const PARAMETERS = { id: DIAMOND_ID } as const

export const showOwnStone = endpoint({
  operationId: 'showOwnStone',
  method: 'GET',
  path: PATH,
  summary: "Show the report page of one of the account's diamonds in the browser, with its history",
  auth: session,
  pathParameters: PARAMETERS,
  responses: {
    200: { description: 'The page, or the log-in form', mediaType: 'text/html' },
    404: 'The account has no such diamond',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: DiamondServices) {
    const home = pathToRoot(ctx.originalUrl)
    const { view, transitions } = await requireOwnStone(ctx, services)
    const page = await ownersReport(view, transitions, services.diamonds, home)
    return reportPageResponse({ ...page, actions: inventoryLink(home) })
  },
})

type StoneRequest = Pick<EndpointContext<BearerPrincipal, unknown, { readonly id: string }>, 'params' | 'state'>

/** Does not reveal whether another account has the stone. @throws RequestError missing */
async function requireOwnStone({ params, state: { principal } }: StoneRequest, { diamonds }: DiamondServices) {
  const history = await readDiamondHistory(diamonds.context.store, parseId(params.id) ?? 0)
  const { isLive, lastView: view, transitions } = history
  if (isLive && view?.diamond.owner === principal.account) return { view, transitions }
  throw new RequestError('missing', 'Your inventory has no such stone')
}

const stoneForm: RequestBody<UploadForm | RequestError, CertificationServices, BearerPrincipal> = orRefusal(pdfForm)

export const changeStoneByPage = endpoint({
  operationId: 'changeStoneByPage',
  method: 'POST',
  path: PATH,
  summary: "Change a stone's price, access or publication, attach a report, or delete it with the forms of the list",
  auth: sameSiteSession,
  pathParameters: PARAMETERS,
  body: stoneForm,
  responses: {
    200: LOG_IN_RESPONSE,
    303: { description: 'Done', headers: { Location: 'The page with the form' } },
    400: 'The form has an unknown button',
    404: 'The account has no such diamond',
    409: 'The stone was changed by another request at the same time',
    412: 'The stone was changed since the form was shown; the page shows it with the changes',
    422: 'A value is invalid; the page shows the form again',
  },
  group: inventoryPagesGroup,
  async handler(ctx, services: DiamondServices & CertificationServices) {
    const { body } = ctx.request
    const texts: Texts = body instanceof RequestError ? {} : Object.fromEntries(body.texts)
    const home = pathToRoot(ctx.originalUrl)
    const page = ownPageIn(texts['page'] ?? '') ?? 'inventory'
    try {
      if (body instanceof RequestError) throw body
      const action = pressedAction(STONE_ACTIONS, texts['do'])
      const id = parseId(ctx.params.id) ?? 0
      const position = await CHANGES[action]({ ctx, services, id, texts, form: body })
      await waitForReadModel(ctx, services.diamonds.queries.progress, position)
      const place = action === 'delete' ? '' : `#stone-${id}`
      return seeOther(`${home}${page}${place}`, { 'Cache-Control': 'no-store' })
    } catch (error) {
      const { status, message } = describeRefusal(error)
      const { view } = await requireOwnStone(ctx, services).catch((missing: unknown) => {
        throw body instanceof RequestError ? body : missing
      })
      const [stone] = ownStonesOf([view], services.diamonds.links)
      if (stone === undefined) throw error
      const price = status === 422 ? texts['price'] : undefined
      const text =
        status === 412 ? 'The stone was changed since the form was shown. It is now as you see it here.' : message
      return formPage({
        status,
        title: stone.sku,
        home,
        actions: inventoryLink(home),
        content: html`${alert(text)} ${stoneForms(stone, { home, page }, price)}`,
      })
    }
  },
})

/** The texts of a form. */
type Texts = Readonly<Record<string, string | undefined>>

type Change = {
  readonly ctx: Parameters<typeof actorOf>[0]
  readonly services: DiamondServices & CertificationServices
  readonly id: number
  readonly texts: Texts
  readonly form: UploadForm
}

/** @throws RequestError; WrongRevision, OutcomeUnknown, StoreUnavailable */
const CHANGES: Readonly<Record<StoneAction, (change: Change) => Promise<Position | undefined>>> = {
  async save({ ctx, services: { diamonds }, id, texts }) {
    const actor = actorOf(ctx)
    const change = planPatch(id, fieldsIn(texts), actor)
    return (await changeDiamond(diamonds.context, actor, change, revisionIn(texts))).position
  },
  async attach({ ctx, services: { certifications }, id, texts, form: { file, fileError } }) {
    if (fileError !== undefined) throw fileError
    const { laboratory, number = '' } = texts
    const input = { product: id, laboratory, number: number.trim() === '' ? null : number }
    const replaces = parseId(texts['replaces'] ?? '')
    const certification = requireValid(parseCertification(input))
    const attaching = attachCertification(certifications.context, actorOf(ctx), certification, { file, replaces })
    return (await attaching).position
  },
  async delete({ ctx, services: { diamonds }, id }) {
    const actor = actorOf(ctx)
    return (await changeDiamond(diamonds.context, actor, planDelete(id, actor))).position
  },
}

/** @throws RequestError invalid */
function fieldsIn({ price, access, isPublished }: Texts): DiamondFieldChanges {
  const amount = price?.trim() === '' ? null : Number(price)
  const input = {
    ...(price !== undefined && { price: Number.isNaN(amount) ? price : amount }),
    ...(access !== undefined && { access: Number(access) }),
  }
  const { set, removed } = requireValid(parseFieldChanges('v4', input, ''))
  return { set: { ...set, isPublished: isPublished !== undefined }, removed }
}

/** The revision that the form was made for. Another one is rejected, so that no change by others is overwritten. */
const revisionIn = ({ revision = '' }: Texts): readonly bigint[] =>
  /^\d{1,18}$/.test(revision) ? [BigInt(revision)] : []
