import { z } from 'zod'
import type { ReadModels } from '../../projections/engine/followers.ts'
import { laboratories, laboratoriesOf } from '../../projections/laboratories/laboratories.ts'
import { CERTIFICATION } from '../../representations/certification.ts'
import { ok } from '../kit/answer.ts'
import { bearer } from '../kit/authenticate.ts'
import { CONSISTENCY, PENDING } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { owned } from '../kit/errors.ts'

const LABORATORY_STONES = z.object({
  laboratory: CERTIFICATION.shape.laboratory,
  stones: z.int().min(1).describe('Stones whose newest report is of it.'),
})

export const listLaboratories = endpoint({
  name: 'listLaboratories',
  method: 'GET',
  path: '/v4/certification/laboratories',
  about: "How many of the account's diamonds have their newest report of each laboratory.",
  who: bearer,
  family: owned,
  answers: {
    200: { about: 'The laboratories, by name', schema: z.array(LABORATORY_STONES), headers: CONSISTENCY },
  },
  async run({ asker, patience }, { readModels }: { readonly readModels: ReadModels }) {
    const shown = readModels.readModel(laboratories)
    const isCurrent = await shown.isCurrent(patience)
    return ok(await laboratoriesOf(shown.model, asker.account), isCurrent ? {} : PENDING)
  },
})
