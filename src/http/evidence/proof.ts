import { z } from 'zod'
import { RequestError } from '../../domain/request-error.ts'
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
          index: z.int().min(0).describe('The index of the leaf in the Merkle tree, from 0.'),
          stream: z.string(),
          revision: z.int().min(0).describe('The revision of the event in its stream, from 0.'),
          id: z.string(),
          type: z.string(),
          data: z.record(z.string(), z.unknown()),
          metadata: TEXTS,
          path: z.array(HASH).describe('The inclusion proof: sibling hashes from the leaf to the root.'),
        }),
      )
      .min(1)
      .describe('All events of the diamond up to the checkpoint, in log order.'),
    checkpoint: z.string().describe('The signed checkpoint whose root the inclusion proofs lead to.'),
    key: z.string().describe("The log's verifier key. Verify with a key from an independent source instead."),
  })
  .meta({ id: 'Proof' })

/** Seconds until the Merkle tree usually includes a new diamond. */
const RETRY_AFTER_SECONDS = 2

export const readProof = endpoint({
  operationId: 'readProof',
  method: 'GET',
  path: '/v4/diamond/{id}/proof',
  summary:
    "Retrieve a proof of a diamond's history. It shows that the events are in the transparency log and were not altered. " +
    'Also available after the diamond was deleted.',
  auth: bearer,
  pathParameters: { id: DIAMOND_ID },
  group: accountGroup,
  responses: {
    200: { description: 'The proof. `adamant check` verifies it offline', schema: PROOF },
    503: 'The diamond is new, and no checkpoint includes its events yet',
    ...DIAMOND_ERROR_RESPONSES,
  },
  async handler(ctx, services: DiamondServices & EvidenceServices) {
    const id = parseDiamondId(ctx.params)
    const history = await readDiamondHistory(services.diamonds.context.store, id)
    checkOwner(history, id, ctx.state.principal.account)
    const events = history.transitions.map(({ event }) => event)
    const proof = await ctx.state.waitBudget.spendOn((remainingMs) =>
      proveDiamond(requireEvidence(services), id, events, remainingMs),
    )
    if (proof === undefined)
      throw new RequestError(
        'unavailable',
        `No signed checkpoint includes diamond ${id} yet; try again`,
        RETRY_AFTER_SECONDS,
      )
    return ok(proof)
  },
})
