import type { Laboratory } from '../../domain/certification/certification.ts'
import { diamondIdOfStream, type DiamondEvent } from '../../domain/diamond/diamond.ts'
import { decode } from '../../events/decode.ts'
import type { ReadModel } from '../../stores/ports/read-store.ts'
import { defineReadModel } from '../engine/read-model.ts'

type Report = { readonly id: number; readonly laboratory: Laboratory }

/** A diamond with its reports in order of attachment. */
type ReportedDiamond = { readonly id: number; readonly owner: number; readonly reports: readonly Report[] }

/** The laboratory of each diamond's newest report, or '' without a report. */
export const laboratories = defineReadModel<ReportedDiamond>({
  name: 'laboratories',
  version: 1,
  streamPrefixes: ['diamond-'],
  eventTypes: ['DiamondCreated', 'CertificationAttached', 'CertificationRemoved', 'DiamondDeleted'],
  documents: {
    fields: { id: 'integer', owner: 'integer', laboratory: 'text' },
    texts: ['reports'],
    indexes: [],
    counts: ['owner', 'laboratory'],
  },
  keyOf: ({ stream }) => diamondIdOfStream(stream),
  createsDocument: ({ type }) => type === 'DiamondCreated',
  evolve: (diamond, event) => evolve(diamond, decode<DiamondEvent>(event)),
  toDocument: ({ id, owner, reports }) => ({
    id,
    owner,
    laboratory: reports.at(-1)?.laboratory ?? '',
    reports: JSON.stringify(reports),
  }),
  fromDocument: ({ id, owner, reports }) => ({
    id: Number(id),
    owner: Number(owner),
    reports: JSON.parse(String(reports)) as Report[],
  }),
})

function evolve(diamond: ReportedDiamond | undefined, { type, data }: DiamondEvent): ReportedDiamond | undefined {
  if (type === 'DiamondDeleted') return undefined
  if (type === 'DiamondCreated') return diamond ?? { id: data.id, owner: data.owner, reports: [] }
  if (diamond === undefined) return undefined
  const isAttached = diamond.reports.some(({ id }) => 'id' in data && id === data.id)
  if (type === 'CertificationAttached' && !isAttached) {
    return { ...diamond, reports: [...diamond.reports, { id: data.id, laboratory: data.laboratory }] }
  }
  if (type === 'CertificationRemoved' && isAttached) {
    return { ...diamond, reports: diamond.reports.filter(({ id }) => id !== data.id) }
  }
  return diamond
}

/** The number of diamonds whose newest report is from a laboratory. */
export type LaboratoryStones = { readonly laboratory: string; readonly stones: number }

/** The laboratories of an account's diamonds, sorted by name. */
export async function laboratoriesOf(model: Pick<ReadModel, 'counts'>, owner: number): Promise<LaboratoryStones[]> {
  const counts = await model.counts({ owner })
  return counts
    .map(({ values, documents }) => ({ laboratory: String(values['laboratory']), stones: documents }))
    .filter(({ laboratory }) => laboratory !== '')
    .toSorted((one, other) => (one.laboratory < other.laboratory ? -1 : 1))
}
