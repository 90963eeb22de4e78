import { OTHER, rootOf, shapeTitle } from '../dictionaries/shapes.ts'
import { short, title, type DictionaryName } from '../dictionaries/lookup.ts'
import { warningsOf } from '../certification/contradictions.ts'
import { renderCertification } from '../certification/render.ts'
import { fileRevision, pageRevision } from './access.ts'
import type { LiveDiamond } from './diamond.ts'
import { ADDRESS, LASTS, signedLink } from './placeholders.ts'
import type { Scores } from './scores.ts'

/**
 * The finished JSON text of a diamond as v4 shows it, with the placeholders of placeholders.ts.
 * @param scores of `scoresTexts`
 */
export function renderV4(diamond: LiveDiamond, scores: string): string {
  const f = diamond.fields
  return (
    `{"id":${diamond.id},"sku":${JSON.stringify(f.sku)},"price":${f.price},"isColored":${f.isColored}` +
    `,"isLabGrown":${f.isLabGrown},"cutShape":${shapeV4(f.cutShape)},"carat":${f.carat}` +
    `,"clarity":${SHORTS.clarity(f.clarity)},"color":${SHORTS.color(f.color)}` +
    `,"cutQuality":${TITLES.cutQuality(f.cutQuality)},"polish":${TITLES.polish(f.polish)}` +
    `,"symmetry":${TITLES.symmetry(f.symmetry)},"fluorIntensity":${SHORTS.fluorIntensity(f.fluorIntensity)}` +
    `,"fluorColor":${SHORTS.fluorColor(f.fluorColor)},"fancyGrade":${TITLES.fancyGrade(f.fancyGrade)}` +
    `,"colorHue":${TITLES.colorHue(f.colorHue)},"colorModifier":${TITLES.colorModifier(f.colorModifier)}` +
    `,"culetSize":${JSON.stringify(f.culetSize)},"girdle":${JSON.stringify(f.girdle)},"date":"${isoDate(diamond.date)}"` +
    `,"access":${f.access},"dataAccess":${f.dataAccess},"certifications":[${certificationsOf(diamond)}]` +
    `,"scores":${scores},"_links":${links(diamond)}}`
  )
}

/** @param scores of `scoresTexts` */
export function renderV3(diamond: LiveDiamond, scores: string): string {
  const f = diamond.fields
  return (
    `{"id":${diamond.id},"sku":${JSON.stringify(f.sku)},"price":${f.price},"isColored":${f.isColored}` +
    `,"isPublished":${f.isPublished},"cutShape":${shapeV3(f.cutShape)},"carat":${f.carat},"clarity":${f.clarity}` +
    `,"color":${f.color},"cutQuality":${f.cutQuality},"polish":${f.polish},"symmetry":${f.symmetry}` +
    `,"fluorIntensity":${f.fluorIntensity},"fluorColor":${f.fluorColor},"fancyGrade":${f.fancyGrade}` +
    `,"colorHue":${f.colorHue},"colorModifier":${f.colorModifier},"date":"${isoDate(diamond.date)}"` +
    `,"scores":${scores},"_links":${links(diamond)}}`
  )
}

/** The id that v3 shows for a stored shape: its root's, or Other for a text that no dictionary knows. */
export const shapeV3 = (shape: number | string): number => (typeof shape === 'number' ? rootOf(shape) : OTHER)

const shapeV4 = (shape: number | string) => JSON.stringify(typeof shape === 'number' ? shapeTitle(shape) : shape)

const NONE = '{"integral":null,"spread":null,"fire":null,"brilliance":null,"fluor":null,"symmetry":null}'
const NO_SCORES: ScoresTexts = { v3: NONE, v4: NONE }

export type ScoresTexts = { readonly v3: string; readonly v4: string }

/**
 * The JSON text of scores as each version shows them.
 * Put together by hand: JSON.stringify takes thrice as long, and every stone that is scored needs them.
 * @param scores null until they are computed
 */
export function scoresTexts(scores: Scores | null): ScoresTexts {
  if (scores === null) return NO_SCORES
  const { integral, spread, fire, brilliance, fluor, symmetry } = scores
  const before = `{"integral":${relative(integral)},"spread":${
    spread && `{"ct":${spread.ct},"pc":${spread.pc},"d":${spread.d},"ver":${quoted(spread.ver)}}`
  },"fire":${relative(fire)},"brilliance":${
    brilliance && relative(brilliance, `,"faceup":${brilliance.faceup},"avg":${brilliance.avg}`)
  },"fluor":`
  const behind = `,"symmetry":${
    symmetry &&
    `{"val":${symmetry.val},"pav":${symmetry.pav},"crown":${symmetry.crown},"d":${symmetry.d},"ver":${quoted(symmetry.ver)}}`
  }}`
  const v4 = `${before}${fluor && fluorText(fluor, 'v4')}${behind}`
  return { v4, v3: fluor === null ? v4 : `${before}${fluorText(fluor, 'v3')}${behind}` }
}

/** The versions of the model, which are few, each quoted once. */
const VERSIONS = new Map<string, string>()

function quoted(version: string): string {
  const known = VERSIONS.get(version)
  if (known !== undefined) return known
  const text = JSON.stringify(version)
  VERSIONS.set(version, text)
  return text
}

/** @param more members before the version, each behind a comma */
const relative = (score: Scores['integral'], more = '') =>
  score && `{"val":${score.val},"rg":${score.rg},"d":${score.d}${more},"ver":${quoted(score.ver)}}`

function fluorText(fluor: NonNullable<Scores['fluor']>, version: 'v3' | 'v4'): string {
  const { n, f, m, s, vs, color, colorCode, ver } = fluor
  const shown = version === 'v3' ? '' : `,"color":${color},"colorCode":${JSON.stringify(colorCode)}`
  return `{"n":${n},"f":${f},"m":${m},"s":${s},"vs":${vs}${shown},"ver":${quoted(ver)}}`
}

function certificationsOf(diamond: LiveDiamond): string {
  if (diamond.certifications.length === 0) return ''
  const revision = fileRevision(diamond)
  return diamond.certifications
    .map((one) => renderCertification(one, revision, warningsOf(one, diamond.fields)))
    .join(',')
}

function links(diamond: LiveDiamond): string {
  const page = `/diamond/${diamond.id}`
  const isRestricted = diamond.fields.access === 0
  const href = isRestricted ? signedLink(page, LASTS.withItsAccess, pageRevision(diamond)) : `${ADDRESS}${page}`
  return `[{"rel":"page.report","href":"${href}"}]`
}

/** `2014-11-27T21:11:00+00:00` */
const isoDate = remembering((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+00:00`)

/** The stones of a bulk have one date: its last text is kept. */
function remembering(text: (seconds: number) => string): (seconds: number) => string {
  let last = { seconds: NaN, text: '' }
  return (seconds) => {
    if (seconds !== last.seconds) last = { seconds, text: text(seconds) }
    return last.text
  }
}

type Quote = (id: number | null) => string

/** A dictionary's texts, quoted once: the same few hundred stand in every body. */
function quoter(text: (dictionary: DictionaryName, id: number) => string, dictionary: DictionaryName): Quote {
  const known = new Map<number, string>()
  return (id) => {
    if (id === null) return 'null'
    const found = known.get(id)
    if (found !== undefined) return found
    const quoted = JSON.stringify(text(dictionary, id))
    known.set(id, quoted)
    return quoted
  }
}

const TITLES = {
  cutQuality: quoter(title, 'cutQuality'),
  polish: quoter(title, 'polish'),
  symmetry: quoter(title, 'symmetry'),
  fancyGrade: quoter(title, 'fancyGrade'),
  colorHue: quoter(title, 'colorHue'),
  colorModifier: quoter(title, 'colorModifier'),
}

const SHORTS = {
  clarity: quoter(short, 'clarity'),
  color: quoter(short, 'color'),
  fluorIntensity: quoter(short, 'fluorIntensity'),
  fluorColor: quoter(short, 'fluorColor'),
}
