import { removeCertification } from '../../commands/certifications/certifications.ts'
import { Refusal } from '../../domain/refusal.ts'
import { byOf } from '../diamonds/resource.ts'
import { noContent } from '../kit/answer.ts'
import { bearer } from '../kit/authenticate.ts'
import { CONSISTENCY, consistencyOf } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { CERTIFICATION_ID, certificationIdOf, type CertificationServices } from './resource.ts'

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
