import { z } from 'zod'
import { RequestError } from '../../domain/decider.ts'
import type { SignedCheckpoints, SignedCheckpoint, Signer } from '../../projections/tree/signed-checkpoints.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { createResponse, ok } from '../kit/response.ts'
import { publicAccess, endpoint, type HttpRequest } from '../kit/endpoint.ts'
import { platformGroup } from '../kit/errors.ts'
import { queryReader, wholeNumber } from '../kit/parameters/query.ts'

/** What evidence is answered from. */
export type EvidenceServices = {
  /** Undefined where the log has no key and takes none any more. */
  readonly evidence:
    { readonly checkpoints: SignedCheckpoints; readonly signer: Signer; readonly model: ReadModel } | undefined
}

type LogEvidence = NonNullable<EvidenceServices['evidence']>

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }
/** Another may be signed at any moment. */
const NO_CACHE = { 'Cache-Control': 'no-cache' }
/** Seconds until a first checkpoint is worth another look. */
const RETRY_AFTER_SECONDS = 60

const UNSIGNED = { 404: 'The log was closed before it had a key', 503: 'Nothing has been signed yet' }

/** @throws Refusal missing */
export function requireEvidence({ evidence }: EvidenceServices): LogEvidence {
  if (evidence === undefined)
    throw new RequestError('missing', 'This log has no key, and is closed: nothing of it is signed')
  return evidence
}

/** What was signed last; a log of which nothing is signed yet is signed now. @throws Refusal unavailable */
async function readLatestCheckpoint(
  { checkpoints, signer }: LogEvidence,
  { waitBudget }: Pick<HttpRequest, 'waitBudget'>,
) {
  const found: SignedCheckpoint | undefined =
    (await checkpoints.latestOfEpoch()) ?? (await signer.sign(waitBudget.remainingMs))
  if (found === undefined)
    throw new RequestError('unavailable', 'Nothing has been signed yet: ask again in a minute', RETRY_AFTER_SECONDS)
  return found
}

export const readLogCheckpoint = endpoint({
  operationId: 'readLogCheckpoint',
  method: 'GET',
  path: '/log/checkpoint',
  summary: 'The last signed root of the hash tree over all events, to be kept elsewhere (C2SP tlog-checkpoint).',
  auth: publicAccess,
  group: platformGroup,
  headers: NO_CACHE,
  responses: { 200: { description: 'Origin, size, root and signature', mediaType: 'text/plain' }, ...UNSIGNED },
  async handler(request, services: EvidenceServices) {
    return createResponse(200, (await readLatestCheckpoint(requireEvidence(services), request)).note, TEXT)
  },
})

export const readLogKey = endpoint({
  operationId: 'readLogKey',
  method: 'GET',
  path: '/log/key',
  summary: 'The key that checkpoints are checked with, in the form of signed notes.',
  auth: publicAccess,
  group: platformGroup,
  headers: NO_CACHE,
  responses: { 200: { description: 'NAME+ID+KEY', mediaType: 'text/plain' }, 404: UNSIGNED[404] },
  async handler(_request, services: EvidenceServices) {
    return createResponse(200, `${await requireEvidence(services).checkpoints.verifierKey()}\n`, TEXT)
  },
})

export const HASH = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)

const SIZES = z.object({
  from: wholeNumber(0)
    .describe('Events of the earlier tree.')
    .meta({ examples: [0] }),
  to: wholeNumber(0)
    .describe('Events of the later tree, up to the size that is signed.')
    .meta({ examples: [0] }),
})

const readSizes = queryReader(SIZES)

/** @throws Refusal invalid */
function refuseSizes({ from, to }: z.output<typeof SIZES>, most: number): void {
  const faults = [
    ...(to > most ? [{ pointer: 'to', message: `to must be from 0 to ${most}, got ${to}` }] : []),
    ...(from > to ? [{ pointer: 'from', message: `from must be from 0 to ${to}, got ${from}` }] : []),
  ]
  if (faults.length > 0) throw new RequestError('invalid', faults)
}

export const readLogConsistency = endpoint({
  operationId: 'readLogConsistency',
  method: 'GET',
  path: '/log/consistency',
  summary: 'What shows that the tree of so many events is the beginning of a later one (RFC 6962, 2.1.2).',
  auth: publicAccess,
  query: SIZES,
  group: platformGroup,
  headers: NO_CACHE,
  responses: {
    200: {
      description: 'The hashes',
      schema: z
        .object({ from: z.int(), to: z.int(), hashes: z.array(HASH).describe('SHA-256 in base64, in their order.') })
        .meta({ id: 'LogConsistency' }),
    },
    400: 'The query is not readable',
    422: 'The log is not that large, or from is behind to',
    ...UNSIGNED,
  },
  async handler(request, services: EvidenceServices) {
    const evidence = requireEvidence(services)
    const { size } = await readLatestCheckpoint(evidence, request)
    const { from, to } = readSizes(request.search)
    refuseSizes({ from, to }, size)
    const hashes = await new TreeQueries(evidence.model).consistencyProof(from, to)
    return ok({ from, to, hashes: hashes.map((hash) => hash.toString('base64')) })
  },
})
