import { OTHER, rootOf, shapeTitle } from '../dictionaries/shapes.ts'
import { short, title, type DictionaryName } from '../dictionaries/lookup.ts'
import { renderCertification } from '../certification/render.ts'
import type { LiveDiamond } from './diamond.ts'
import { ADDRESS, SIGNED } from './placeholders.ts'
import type { Scores } from './scores.ts'

/**
 * The finished JSON text of a diamond as v4 shows it, with the placeholders of placeholders.ts.
 * @param scores null until they are computed
 */
export function renderV4(diamond: LiveDiamond, scores: Scores | null): string {
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
    `,"access":${f.access},"dataAccess":${f.dataAccess},"certifications":[${diamond.certifications.map(renderCertification).join(',')}]` +
    `,"scores":${scoresText(scores, 'v4')},"_links":${links(diamond)}}`
  )
}

/** @param scores null until they are computed */
export function renderV3(diamond: LiveDiamond, scores: Scores | null): string {
  const f = diamond.fields
  return (
    `{"id":${diamond.id},"sku":${JSON.stringify(f.sku)},"price":${f.price},"isColored":${f.isColored}` +
    `,"isPublished":${f.isPublished},"cutShape":${shapeV3(f.cutShape)},"carat":${f.carat},"clarity":${f.clarity}` +
    `,"color":${f.color},"cutQuality":${f.cutQuality},"polish":${f.polish},"symmetry":${f.symmetry}` +
    `,"fluorIntensity":${f.fluorIntensity},"fluorColor":${f.fluorColor},"fancyGrade":${f.fancyGrade}` +
    `,"colorHue":${f.colorHue},"colorModifier":${f.colorModifier},"date":"${isoDate(diamond.date)}"` +
    `,"scores":${scoresText(scores, 'v3')},"_links":${links(diamond)}}`
  )
}

/** The id that v3 shows for a stored shape: its root's, or Other for a text that no dictionary knows. */
export const shapeV3 = (shape: number | string): number => (typeof shape === 'number' ? rootOf(shape) : OTHER)

const shapeV4 = (shape: number | string) => JSON.stringify(typeof shape === 'number' ? shapeTitle(shape) : shape)

const NO_SCORES = '{"integral":null,"spread":null,"fire":null,"brilliance":null,"fluor":null,"symmetry":null}'

function scoresText(scores: Scores | null, version: 'v3' | 'v4'): string {
  if (scores === null) return NO_SCORES
  if (version === 'v4' || scores.fluor === null) return JSON.stringify(scores)
  const { color: _color, colorCode: _colorCode, ...fluor } = scores.fluor
  return JSON.stringify({ ...scores, fluor })
}

function links({ id, fields }: LiveDiamond): string {
  return `[{"rel":"page.report","href":"${ADDRESS}/diamond/${id}${fields.access === 0 ? SIGNED : ''}"}]`
}

/** `2014-11-27T21:11:00+00:00` */
const isoDate = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}+00:00`

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
