import { z } from 'zod'
import { RequestError } from '../../domain/decider.ts'
import { PROOF_FORMAT } from '../../evidence/proof.ts'
import { readDiamondHistory } from '../../projections/history/diamond-history.ts'
import { proveDiamond } from '../../projections/tree/diamond-proof.ts'
import { checkOwner } from '../diamonds/history.ts'
import { DIAMOND_ID, parseDiamondId, DIAMOND_ERROR_RESPONSES, type DiamondServices } from '../diamonds/resource.ts'
import { ok } from '../kit/response.ts'
import { bearer } from '../kit/authenticate.ts'
import { endpoint } from '../kit/endpoint.ts'
import { accountGroup } from '../kit/errors.ts'
import { HASH, requireEvidence, type EvidenceServices } from './transparency-log.ts'

const TEXTS = z.record(z.string(), z.string())

const PROOF = z
  .object({
    format: z.literal(PROOF_FORMAT),
    diamond: z.int(),
    events: z
      .array(
        z.object({
          index: z.int().min(0).describe('Its place among all events of the log, from 0.'),
          stream: z.string(),
          revision: z.int().min(0).describe('Its place in its stream, from 0.'),
          id: z.string(),
          type: z.string(),
          data: z.record(z.string(), z.unknown()),
          metadata: TEXTS,
          path: z.array(HASH).describe('What it is hashed with, from the leaf to the root.'),
        }),
      )
      .min(1)
      .describe('All that happened to the diamond up to the checkpoint, in the order of the log.'),
    checkpoint: z.string().describe('The signed note that the paths lead to.'),
    key: z.string().describe('The key of the log. Check with one that you have from elsewhere.'),
  })
  .meta({ id: 'Proof' })

/** Seconds until the tree has come to a stone that was made just now. */
const RETRY_AFTER_SECONDS = 2

export const readProof = endpoint({
  operationId: 'readProof',
  method: 'GET',
  path: '/v4/diamond/{id}/proof',
  summary: 'Shows to others what happened to a diamond, and that nobody rewrote it; of a deleted one too.',
  auth: bearer,
  pathParameters: { id: DIAMOND_ID },
  group: accountGroup,
  responses: {
    200: { description: 'The proof; `adamant check` checks it without the service', schema: PROOF },
    503: 'The diamond was made just now, and nothing of it is signed yet',
    ...DIAMOND_ERROR_RESPONSES,
  },
  async handler(request, services: DiamondServices & EvidenceServices) {
    const id = parseDiamondId(request.params)
    const past = await readDiamondHistory(services.diamonds.inventory.store, id)
    checkOwner(past, id, request.principal.account)
    const events = past.transitions.map(({ event }) => event)
    const proof = await request.waitBudget.spendOn((ms) => proveDiamond(requireEvidence(services), id, events, ms))
    if (proof === undefined)
      throw new RequestError('unavailable', `Nothing of diamond ${id} is signed yet: ask again`, RETRY_AFTER_SECONDS)
    return ok(proof)
  },
})
