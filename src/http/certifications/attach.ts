import { attachCertification, type Certifying } from '../../commands/certifications/certifications.ts'
import { ownershipFaults, type By } from '../../commands/diamonds/diamonds.ts'
import type { CertificationInput } from '../../domain/certification/certification.ts'
import { fileRevision } from '../../domain/diamond/diamond.ts'
import { Refusal } from '../../domain/refusal.ts'
import { CERTIFICATION, certificationText, readCertification } from '../../representations/certification.ts'
import { diamondIn } from '../../representations/parse.ts'
import { byOf } from '../diamonds/resource.ts'
import { created } from '../kit/answer.ts'
import { bearer } from '../kit/authenticate.ts'
import { consistencyOf } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from '../kit/idempotency-key.ts'
import type { CertificationServices } from './resource.ts'
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
