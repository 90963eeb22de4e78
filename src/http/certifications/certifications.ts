import {
  attachCertification,
  removeCertification,
  type Certifying,
} from '../../commands/certifications/certifications.ts'
import { ownershipFaults, type By } from '../../commands/diamonds/diamonds.ts'
import type { Certification, CertificationInput, ReportFile } from '../../domain/certification/certification.ts'
import { fileRevision } from '../../domain/diamond/diamond.ts'
import { Refusal } from '../../domain/decider.ts'
import { CERTIFICATION, certificationText, readCertification } from '../../representations/certification.ts'
import { diamondIn } from '../../representations/parse.ts'
import { byOf } from '../diamonds/resource.ts'
import { answerFile, FILE_REQUEST, fileAnswers, linkHolder, unknownFile } from '../files/linked-file.ts'
import { created, noContent } from '../kit/answer.ts'
import { bearer } from '../kit/authenticate.ts'
import { CONSISTENCY, consistencyOf } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../kit/json-body.ts'
import { CERTIFICATION_ID, certificationIdOf, type CertificationServices } from './resource.ts'
import { upload, type Upload } from './upload.ts'

export const attachReport = endpoint({
  name: 'attachCertification',
  method: 'POST',
  path: '/v4/certification',
  about: "Attaches a laboratory's report to a diamond, with its PDF where there is one.",
  who: bearer,
  requestHeaders: { 'Idempotency-Key': IDEMPOTENCY_KEY },
  body: upload,
  answers: {
    201: {
      about: 'The certification. `file` opens its PDF for a day, for whoever has it.',
      schema: CERTIFICATION,
      headers: { Location: 'Where it can be removed' },
      example: {
        id: 12,
        laboratory: 'GIA',
        number: '2141438171',
        url: 'https://www.gia.edu/report-check?reportno=2141438171',
        file: 'https://api.example.com/v4/certification/12/file?signature=ZxDcgAAAAAHj1VvAo0Tn3yYw9JmPq0c2',
      },
    },
    403: 'The diamond belongs to another account',
    404: 'There is no such diamond',
    409: 'Somebody else changed the diamond meanwhile; send it again',
    422: 'A part is missing or not acceptable, or the Idempotency-Key was used for another body',
  },
  family: owned,
  async run(asked, { certifications: { certifying, diamondsProgress, links } }: CertificationServices) {
    const by = byOf(asked)
    const wish = await checked(certifying, by, asked.body)
    const { certification, diamond, position } = await attachCertification(
      certifying,
      by,
      wish,
      asked.body.file,
      idempotencyKeyOf(asked),
    )
    const headers = await consistencyOf(asked, diamondsProgress, position)
    const body = certificationText(certification, fileRevision(diamond), links)
    return created(`${links.address}/v4/certification/${certification.id}`, body, headers)
  },
})

/**
 * What is asked for, where all of it is acceptable.
 * @throws Refusal with all that is wrong, of the texts, the file and the diamond: invalid where a text is, else what the
 *   file is refused for
 */
async function checked(writing: Certifying, { owner }: By, { input, refused }: Upload): Promise<CertificationInput> {
  const { value, faults = [] } = readCertification(input)
  if (value !== undefined && refused === undefined) return value
  const id = diamondIn(input, 'product')
  const foreign = id === undefined ? [] : await ownershipFaults(writing, owner, [{ id, pointer: '/product' }])
  const kind = faults.length > 0 ? 'invalid' : (refused?.kind ?? 'invalid')
  throw new Refusal(kind, [...faults, ...(refused?.faults ?? []), ...foreign])
}

export const removeReport = endpoint({
  name: 'removeCertification',
  method: 'DELETE',
  path: '/v4/certification/{id}',
  about: 'Removes a certification, and its file with it where no other has the same one.',
  who: bearer,
  parameters: { id: CERTIFICATION_ID },
  answers: {
    204: { about: 'It is gone', headers: CONSISTENCY },
    403: 'It belongs to another account',
    404: 'There is none',
    409: 'Somebody else changed its diamond meanwhile; send it again',
  },
  family: owned,
  async run(asked, { certifications }: CertificationServices) {
    const { params, patience } = asked
    const { certifying, queries, diamondsProgress } = certifications
    const id = certificationIdOf(params.id)
    const diamond = await queries.diamondOf(id, patience)
    if (diamond === undefined) throw new Refusal('missing', `There is no certification ${id}`)
    const position = await removeCertification(certifying, byOf(asked), { id, diamond })
    return noContent(await consistencyOf(asked, diamondsProgress, position))
  },
})

const PDF = 'application/pdf'

export const readReportFile = endpoint({
  name: 'readCertificationFile',
  method: 'GET',
  path: '/v4/certification/{id}/file',
  about: "A report's PDF, for whoever holds the link that a certification shows as its `file`, for a day.",
  who: linkHolder(({ certifications: { links } }: CertificationServices) => links, 'the certification'),
  parameters: { id: CERTIFICATION_ID },
  ...FILE_REQUEST,
  answers: fileAnswers(PDF),
  family: owned,
  async run(asked, { certifications: { queries, files } }) {
    const found = await queries.one(certificationIdOf(asked.params.id))
    if (found === undefined || fileRevision(found.diamond) !== asked.asker.revision) throw unknownFile()
    const { certification } = found
    if (!hasFile(certification)) throw unknownFile()
    const { id, laboratory, file } = certification
    const name = file.name ?? `${laboratory}-certification-${id}.pdf`
    return answerFile(asked, files, { ...file, name, media: PDF })
  },
})

type WithFile = Certification & { readonly file: ReportFile }

const hasFile = (certification: Certification): certification is WithFile => certification.file !== null
