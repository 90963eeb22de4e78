import type { Certification, ReportFile } from '../../domain/certification/certification.ts'
import { fileRevision } from '../../domain/diamond/diamond.ts'
import { answerFile, FILE_REQUEST, fileAnswers, linkHolder, unknownFile } from '../files/linked-file.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'
import { CERTIFICATION_ID, certificationIdOf, type CertificationServices } from './resource.ts'

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
