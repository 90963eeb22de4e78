import {
  attachCertification,
  removeCertification,
  type CertificationCommandContext,
} from '../../commands/certifications/certifications.ts'
import { ownershipFaults, type CommandPrincipal } from '../../commands/diamonds/diamonds.ts'
import type { Certification, CertificationInput, ReportFile } from '../../domain/certification/certification.ts'
import { fileLinkRevision } from '../../domain/diamond/diamond.ts'
import { RequestError } from '../../domain/request-error.ts'
import { CERTIFICATION, certificationJson, parseCertification } from '../../representations/certification.ts'
import { parseDiamondId } from '../../representations/parse.ts'
import { actorOf } from '../diamonds/resource.ts'
import { createFileResponse, FILE_REQUEST, fileResponses, signedLink, unknownFile } from '../files/file-download.ts'
import { created, noContent } from '../kit/response.ts'
import { bearer } from '../kit/authenticate.ts'
import { CONSISTENCY, waitForReadModel } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../kit/json-body.ts'
import { requireId } from '../kit/path-parameters.ts'
import { CERTIFICATION_ID, type CertificationServices } from './resource.ts'
import { certificationUpload, type CertificationUpload } from './upload.ts'

export const attachCertificationEndpoint = endpoint({
  operationId: 'attachCertification',
  method: 'POST',
  path: '/v4/certification',
  summary: 'Attach a laboratory report to a diamond, optionally with its PDF',
  auth: bearer,
  requestHeaders: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  body: certificationUpload,
  responses: {
    201: {
      description: 'The certification. Anyone with the link in `file` can open the PDF for 24 hours.',
      schema: CERTIFICATION,
      headers: { Location: 'URL of the certification, for deleting it' },
      example: {
        id: 12,
        laboratory: 'GIA',
        number: '2141438171',
        url: 'https://www.gia.edu/report-check?reportno=2141438171',
        file: 'https://api.example.com/v4/certification/12/file?signature=ZxDcgAAAAAHj1VvAo0Tn3yYw9JmPq0c2',
      },
    },
    403: 'The diamond belongs to another account',
    404: 'No such diamond',
    409: 'The diamond was changed by another request; send the request again',
    422: 'Validation failed, or the Idempotency-Key was used with another body',
  },
  group: accountGroup,
  async handler(ctx, { certifications: { context, diamondsProgress, links } }: CertificationServices) {
    const actor = actorOf(ctx)
    const input = await validateUpload(context, actor, ctx.request.body)
    const options = { file: ctx.request.body.file, key: idempotencyKeyOf(ctx) }
    const { certification, diamond, position } = await attachCertification(context, actor, input, options)
    const headers = await waitForReadModel(ctx, diamondsProgress, position)
    const body = certificationJson(certification, fileLinkRevision(diamond), links)
    return created(`${links.baseUrl}/v4/certification/${certification.id}`, body, headers)
  },
})

/**
 * Validates the texts, the file and the ownership of the diamond together.
 * @throws RequestError with all errors; its kind is `invalid` if a text is invalid, else that of the file's error
 */
async function validateUpload(
  context: CertificationCommandContext,
  { owner }: CommandPrincipal,
  { input, fileError }: CertificationUpload,
): Promise<CertificationInput> {
  const { value, errors = [] } = parseCertification(input)
  if (value !== undefined && fileError === undefined) return value
  const id = parseDiamondId(input, 'product')
  const ownerFaults = id === undefined ? [] : await ownershipFaults(context, owner, [{ id, pointer: '/product' }])
  const details = [...errors, ...(fileError?.details ?? []), ...ownerFaults]
  throw errors.length === 0 && fileError !== undefined
    ? fileError.withDetails(details)
    : new RequestError('invalid', details)
}

export const removeCertificationEndpoint = endpoint({
  operationId: 'removeCertification',
  method: 'DELETE',
  path: '/v4/certification/{id}',
  summary: 'Delete a certification. Its file is deleted too, unless another certification has the same file.',
  auth: bearer,
  pathParameters: { id: CERTIFICATION_ID },
  responses: {
    204: { description: 'Deleted', headers: CONSISTENCY },
    403: 'The certification belongs to another account',
    404: 'No such certification',
    409: 'The diamond was changed by another request; send the request again',
  },
  group: accountGroup,
  async handler(ctx, { certifications }: CertificationServices) {
    const { context, queries, diamondsProgress } = certifications
    const id = requireId('certification', ctx.params.id)
    const diamond = await queries.diamondOf(id, ctx.state.waitBudget)
    if (diamond === undefined) throw new RequestError('missing', `There is no certification ${id}`)
    const position = await removeCertification(context, actorOf(ctx), { id, diamond })
    return noContent(await waitForReadModel(ctx, diamondsProgress, position))
  },
})

const PDF = 'application/pdf'

export const readCertificationFile = endpoint({
  operationId: 'readCertificationFile',
  method: 'GET',
  path: '/v4/certification/{id}/file',
  summary: 'Download the PDF of a certification. Needs the signed link in its `file`, which is valid for 24 hours.',
  auth: signedLink(({ certifications: { links } }: CertificationServices) => links, 'the certification'),
  pathParameters: { id: CERTIFICATION_ID },
  ...FILE_REQUEST,
  responses: fileResponses(PDF),
  group: accountGroup,
  async handler(ctx, { certifications: { queries, files } }: CertificationServices) {
    const found = await queries.findWithDiamond(requireId('certification', ctx.params.id))
    if (found === undefined || fileLinkRevision(found.diamond) !== ctx.state.principal.revision) throw unknownFile()
    const { certification } = found
    if (!hasFile(certification)) throw unknownFile()
    const { id, laboratory, file } = certification
    const name = file.name ?? `${laboratory}-certification-${id}.pdf`
    return createFileResponse(ctx, files, { ...file, name, mediaType: PDF })
  },
})

type CertificationWithReportFile = Certification & { readonly file: ReportFile }

const hasFile = (certification: Certification): certification is CertificationWithReportFile =>
  certification.file !== null
