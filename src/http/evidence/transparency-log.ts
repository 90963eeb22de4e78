import { z } from 'zod'
import { RequestError, type ErrorDetail } from '../../domain/request-error.ts'
import type { SignedCheckpoints, SignedCheckpoint, Signer } from '../../projections/tree/signed-checkpoints.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { createResponse, ok } from '../kit/response.ts'
import { publicAccess, endpoint, type EndpointContext } from '../kit/endpoint.ts'
import { publicDataGroup } from '../kit/errors.ts'
import { queryReader, wholeNumber } from '../kit/parameters/query.ts'

export type EvidenceServices = {
  /** Undefined if the log was closed before it had a signing key. */
  readonly evidence:
    { readonly checkpoints: SignedCheckpoints; readonly signer: Signer; readonly model: ReadModel } | undefined
}

type LogEvidence = NonNullable<EvidenceServices['evidence']>

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }
const NO_CACHE = { 'Cache-Control': 'no-cache' }
/** Seconds, if there is no checkpoint yet. */
const RETRY_AFTER_SECONDS = 60

const UNSIGNED = { 404: 'The log was closed before it had a signing key', 503: 'There is no signed checkpoint yet' }

/** @throws RequestError missing */
export function requireEvidence({ evidence }: EvidenceServices): LogEvidence {
  if (evidence === undefined)
    throw new RequestError('missing', 'This log has no checkpoints: it was closed before it had a signing key')
  return evidence
}

/** The latest checkpoint; signs the first one if there is none. @throws RequestError unavailable */
async function readLatestCheckpoint(
  { checkpoints, signer }: LogEvidence,
  { state: { waitBudget } }: Pick<EndpointContext, 'state'>,
) {
  const checkpoint: SignedCheckpoint | undefined =
    (await checkpoints.latestOfEpoch()) ?? (await signer.sign(waitBudget.remainingMs))
  if (checkpoint === undefined)
    throw new RequestError(
      'unavailable',
      'There is no signed checkpoint yet; try again in a minute',
      RETRY_AFTER_SECONDS,
    )
  return checkpoint
}

export const readLogCheckpoint = endpoint({
  operationId: 'readLogCheckpoint',
  method: 'GET',
  path: '/log/checkpoint',
  summary:
    'Retrieve the latest signed checkpoint (C2SP tlog-checkpoint). It commits to the Merkle tree over all events; store it ' +
    'elsewhere to detect later changes.',
  auth: publicAccess,
  group: publicDataGroup,
  headers: NO_CACHE,
  responses: {
    200: { description: 'Origin, tree size, root hash and signature', mediaType: 'text/plain' },
    ...UNSIGNED,
  },
  async handler(ctx, services: EvidenceServices) {
    return createResponse(200, (await readLatestCheckpoint(requireEvidence(services), ctx)).note, TEXT)
  },
})

export const readLogKey = endpoint({
  operationId: 'readLogKey',
  method: 'GET',
  path: '/log/key',
  summary: 'Retrieve the key for verifying checkpoints, in signed note format',
  auth: publicAccess,
  group: publicDataGroup,
  headers: NO_CACHE,
  responses: { 200: { description: 'NAME+ID+KEY', mediaType: 'text/plain' }, 404: UNSIGNED[404] },
  async handler(_request, services: EvidenceServices) {
    return createResponse(200, `${await requireEvidence(services).checkpoints.verifierKey()}\n`, TEXT)
  },
})

export const HASH = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)

const SIZES = z.object({
  from: wholeNumber(0)
    .describe('Size of the earlier tree.')
    .meta({ examples: [0] }),
  to: wholeNumber(0)
    .describe('Size of the later tree, at most that of the latest checkpoint.')
    .meta({ examples: [0] }),
})

const readSizes = queryReader(SIZES)

/** @throws RequestError invalid */
function requireValidSizes({ from, to }: z.output<typeof SIZES>, latestSize: number): void {
  const rangeFault = (pointer: string, max: number, size: number): ErrorDetail[] =>
    size <= max ? [] : [{ pointer, message: `${pointer} must be from 0 to ${max}, got ${size}`, code: 'range' }]
  const faults = [...rangeFault('to', latestSize, to), ...rangeFault('from', to, from)]
  if (faults.length > 0) throw new RequestError('invalid', faults)
}

export const readLogConsistency = endpoint({
  operationId: 'readLogConsistency',
  method: 'GET',
  path: '/log/consistency',
  summary: 'Retrieve a consistency proof between two tree sizes (RFC 6962, section 2.1.2)',
  auth: publicAccess,
  query: SIZES,
  group: publicDataGroup,
  headers: NO_CACHE,
  responses: {
    200: {
      description: 'The consistency proof',
      schema: z
        .object({
          from: z.int(),
          to: z.int(),
          hashes: z.array(HASH).describe('SHA-256 hashes in base64, in the order of RFC 6962.'),
        })
        .meta({ id: 'LogConsistency' }),
    },
    400: 'A query parameter is unknown or cannot be parsed',
    422: '`to` exceeds the size of the latest checkpoint, or `from` is greater than `to`',
    ...UNSIGNED,
  },
  async handler(ctx, services: EvidenceServices) {
    const evidence = requireEvidence(services)
    const { from, to } = readSizes(ctx.querystring)
    const { size } = await readLatestCheckpoint(evidence, ctx)
    requireValidSizes({ from, to }, size)
    const hashes = await new TreeQueries(evidence.model).consistencyProof(from, to)
    return ok({ from, to, hashes: hashes.map((hash) => hash.toString('base64')) })
  },
})
