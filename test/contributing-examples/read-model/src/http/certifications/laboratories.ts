import { z } from 'zod'
import type { ReadModelRegistry } from '../../projections/engine/background-services.ts'
import { laboratories, laboratoriesOf } from '../../projections/laboratories/laboratories.ts'
import { CERTIFICATION } from '../../representations/certification.ts'
import { ok } from '../kit/response.ts'
import { bearer } from '../kit/authenticate.ts'
import { CONSISTENCY, PENDING } from '../kit/consistency.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'

const LABORATORY_STONES = z.object({
  laboratory: CERTIFICATION.shape.laboratory,
  stones: z.int().min(1).describe('Number of diamonds whose newest report is from this laboratory.'),
})

export const listLaboratories = endpoint({
  operationId: 'listLaboratories',
  method: 'GET',
  path: '/v4/certification/laboratories',
  summary: "Count the account's diamonds by the laboratory of their newest report",
  auth: bearer,
  group: accountGroup,
  responses: {
    200: { description: 'The laboratories, sorted by name', schema: z.array(LABORATORY_STONES), headers: CONSISTENCY },
  },
  async handler({ state: { principal, waitBudget } }, { readModels }: { readonly readModels: ReadModelRegistry }) {
    const shown = readModels.readModel(laboratories)
    const isCurrent = await shown.isCurrent(waitBudget)
    return ok(await laboratoriesOf(shown.model, principal.account), isCurrent ? {} : PENDING)
  },
})
