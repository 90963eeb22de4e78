import { DEFAULTS, type DiamondFields } from '../../src/domain/diamond/fields.ts'
import { toDocument } from '../../src/projections/diamonds/diamond-document.ts'
import { etagOf, type DiamondView } from '../../src/projections/diamonds/diamond-view.ts'
import { diamonds } from '../../src/projections/diamonds/diamonds.ts'
import { diamondJson } from '../../src/representations/diamond/diamond-json.ts'
import { toScoresJson } from '../../src/representations/diamond/scores-json.ts'
import { ALL_PROPORTIONS } from '../fixtures/proportions.ts'

/** Golden copies of stored documents and response bodies of some diamonds: they make a change visible. */
export type Golden = {
  readonly version: number
  readonly documents: readonly unknown[]
  readonly bodies: readonly GoldenBody[]
}
export type GoldenBody = { readonly v3: unknown; readonly v4: unknown; readonly etag: unknown }

export const goldenFile = new URL('golden-bodies.json', import.meta.url)

const scores = {
  integral: { val: 0.95, rg: 1.02, d: 0.05, ver: '1.1.0' },
  spread: { ct: -0.19, pc: -14.2, d: 0.1, ver: '1.0.0' },
  fire: { val: 0.73, rg: 1.02, d: 0.05, ver: 'fire-1' },
  brilliance: { val: 1.03, rg: 1.03, d: 0.02, faceup: 1.01, avg: 0.98, ver: 'brilliance-1' },
  fluor: { n: 1, f: 0, m: 0, s: 0, vs: 0, color: 1, colorCode: 'B', ver: 'fluor-1' },
  symmetry: { val: 8.55, pav: 8.71, crown: 8.39, d: 0.05, ver: '1.3.0' },
}

const plain: DiamondFields = { ...DEFAULTS, sku: 'MSSRBC13', cutShape: 2, carat: 0.73 }

const rich: DiamondFields = {
  sku: 'a "quoted" \\ \u0000 é 💎',
  price: 1234.5,
  isColored: true,
  isLabGrown: true,
  isPublished: true,
  cutShape: 'My own cut',
  carat: 10_000,
  clarity: 6,
  color: 18,
  cutQuality: 1,
  polish: 2,
  symmetry: 10,
  fluorIntensity: 2,
  fluorColor: 1,
  fancyGrade: 9,
  colorHue: 30,
  colorModifier: 3,
  culetSize: 'N',
  girdle: 'Thin-Medium',
  ...ALL_PROPORTIONS,
  access: 1,
  dataAccess: 2,
}

const file = { digest: '0'.repeat(64), bytes: 1000, name: '2136273512.pdf' }
const contradicting = {
  number: '2',
  carat: 0.5,
  measurements: null,
  table: null,
  depth: null,
  crownAngle: null,
  pavilionAngle: null,
  girdle: null,
  star: null,
  lower: null,
  laboratory: 'HRD',
  shape: 2,
  isLabGrown: false,
  unclear: [],
} as const
const certifications = [
  { id: 5, laboratory: 'GIA', number: '2136273512', file, reading: null },
  { id: 6, laboratory: 'IGI', number: null, file: null, reading: null },
  { id: 7, laboratory: 'GIA', number: '1', file: null, reading: contradicting },
] as const

const view = (
  fields: DiamondFields,
  more: Partial<DiamondView>,
  certified: DiamondView['diamond']['certifications'],
) => ({
  diamond: {
    status: 'live' as const,
    id: 337,
    owner: 7,
    date: 1_417_122_660,
    fields,
    certifications: certified,
    serviceEventsSinceOwnerChange: 1,
    warningsSinceOwnerChange: 0,
    accessRevisions: { access: 2, dataAccess: 1 },
  },
  revision: 3,
  stoneRevision: 0,
  scores: null,
  scoresRevision: -1,
  changedAt: 1_417_122_661_000,
  ...more,
})

const VIEWS: readonly DiamondView[] = [
  view(plain, {}, []),
  view(
    { ...plain, cutShape: 200, access: 2 },
    { scores: toScoresJson('v4', { ...scores, fluor: null }), scoresRevision: 0 },
    [],
  ),
  view(rich, { scores: toScoresJson('v4', scores), scoresRevision: 4 }, certifications),
]

/** The documents and bodies of this release, with placeholders for addresses and signatures. */
export const rendered = (): Golden => ({
  version: diamonds.declaration.version,
  documents: VIEWS.map(toDocument),
  bodies: VIEWS.map(goldenOf),
})

const PLACEHOLDER_LINKS = {
  plain: (path: string) => `{address}${path}`,
  signed: (path: string, lasting: string, revision: number) => `{address}${path}{signature}${lasting}${revision}`,
}

const goldenOf = (view: DiamondView): GoldenBody => ({
  v3: diamondJson('v3', view, PLACEHOLDER_LINKS),
  v4: diamondJson('v4', view, PLACEHOLDER_LINKS),
  etag: etagOf(view),
})
