import { z } from 'zod'
import { Refusal } from '../../domain/decider.ts'
import type { Checkpoints, Signed, Signer } from '../../projections/tree/checkpoints.ts'
import { TreeQueries } from '../../projections/tree/tree-queries.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { answer, ok } from '../kit/answer.ts'
import { anybody, endpoint, type Asked } from '../kit/endpoint.ts'
import { platform } from '../kit/errors.ts'
import { queryReader, whole } from '../kit/parameters/query.ts'

/** What evidence is answered from. */
export type EvidenceServices = {
  /** Undefined where the log has no key and takes none any more. */
  readonly evidence:
    { readonly checkpoints: Checkpoints; readonly signer: Signer; readonly model: ReadModel } | undefined
}

type Evidence = NonNullable<EvidenceServices['evidence']>

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' }
/** Another may be signed at any moment. */
const ASKED_AGAIN = { 'Cache-Control': 'no-cache' }
/** Seconds until a first checkpoint is worth another look. */
const SOON = 60

const UNSIGNED = { 404: 'The log was closed before it had a key', 503: 'Nothing has been signed yet' }

/** @throws Refusal missing */
export function signedBy({ evidence }: EvidenceServices): Evidence {
  if (evidence === undefined)
    throw new Refusal('missing', 'This log has no key, and is closed: nothing of it is signed')
  return evidence
}

/** What was signed last; a log of which nothing is signed yet is signed now. @throws Refusal unavailable */
async function signedNow({ checkpoints, signer }: Evidence, { patience }: Pick<Asked, 'patience'>) {
  const found: Signed | undefined = (await checkpoints.latest()) ?? (await signer.sign(patience.left))
  if (found === undefined) throw new Refusal('unavailable', 'Nothing has been signed yet: ask again in a minute', SOON)
  return found
}

export const readLogCheckpoint = endpoint({
  name: 'readLogCheckpoint',
  method: 'GET',
  path: '/log/checkpoint',
  about: 'The last signed root of the hash tree over all events, to be kept elsewhere (C2SP tlog-checkpoint).',
  who: anybody,
  family: platform,
  headers: ASKED_AGAIN,
  answers: { 200: { about: 'Origin, size, root and signature', media: 'text/plain' }, ...UNSIGNED },
  async run(asked, services: EvidenceServices) {
    return answer(200, (await signedNow(signedBy(services), asked)).note, TEXT)
  },
})

export const readLogKey = endpoint({
  name: 'readLogKey',
  method: 'GET',
  path: '/log/key',
  about: 'The key that checkpoints are checked with, in the form of signed notes.',
  who: anybody,
  family: platform,
  headers: ASKED_AGAIN,
  answers: { 200: { about: 'NAME+ID+KEY', media: 'text/plain' }, 404: UNSIGNED[404] },
  async run(_asked, services: EvidenceServices) {
    return answer(200, `${await signedBy(services).checkpoints.keyText()}\n`, TEXT)
  },
})

export const HASH = z.string().regex(/^[A-Za-z0-9+/]{43}=$/)

const SIZES = z.object({
  from: whole(0)
    .describe('Events of the earlier tree.')
    .meta({ examples: [0] }),
  to: whole(0)
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
  if (faults.length > 0) throw new Refusal('invalid', faults)
}

export const readLogConsistency = endpoint({
  name: 'readLogConsistency',
  method: 'GET',
  path: '/log/consistency',
  about: 'What shows that the tree of so many events is the beginning of a later one (RFC 6962, 2.1.2).',
  who: anybody,
  query: SIZES,
  family: platform,
  headers: ASKED_AGAIN,
  answers: {
    200: {
      about: 'The hashes',
      schema: z
        .object({ from: z.int(), to: z.int(), hashes: z.array(HASH).describe('SHA-256 in base64, in their order.') })
        .meta({ id: 'LogConsistency' }),
    },
    400: 'The query is not readable',
    422: 'The log is not that large, or from is behind to',
    ...UNSIGNED,
  },
  async run(asked, services: EvidenceServices) {
    const evidence = signedBy(services)
    const { size } = await signedNow(evidence, asked)
    const { from, to } = readSizes(asked.search)
    refuseSizes({ from, to }, size)
    const hashes = await new TreeQueries(evidence.model).consistency(from, to)
    return ok({ from, to, hashes: hashes.map((hash) => hash.toString('base64')) })
  },
})
