import { DICTIONARIES, type DictionaryName } from '../../src/domain/diamond/fields.ts'
import { shapeTitle } from '../../src/domain/dictionaries/shapes.ts'
import type { StoneRow } from './row.ts'

const NO_SCORES = { integral: null, spread: null, fire: null, brilliance: null, fluor: null, symmetry: null }

/** A row in the form of the v4 API. */
export function present(row: StoneRow, address: string): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    sku: row.sku,
    price: row.price,
    isColored: row.isColored === 1,
    isLabGrown: row.isLabGrown === 1,
    cutShape: typeof row.cutShape === 'number' ? shapeTitle(row.cutShape) : row.cutShape,
    carat: row.carat,
    clarity: shown('short', 'clarity', row.clarity),
    color: shown('short', 'color', row.color),
    cutQuality: shown('title', 'cutQuality', row.cutQuality),
    polish: shown('title', 'polish', row.polish),
    symmetry: shown('title', 'symmetry', row.symmetry),
    fluorIntensity: shown('short', 'fluorIntensity', row.fluorIntensity),
    fluorColor: shown('short', 'fluorColor', row.fluorColor),
    fancyGrade: shown('title', 'fancyGrade', row.fancyGrade),
    colorHue: shown('title', 'colorHue', row.colorHue),
    colorModifier: shown('title', 'colorModifier', row.colorModifier),
    culetSize: row.culetSize,
    girdle: row.girdle,
    date: `${new Date(row.date * 1000).toISOString().slice(0, 19)}+00:00`,
    access: row.access,
    dataAccess: row.dataAccess,
    certifications: [],
    scores: NO_SCORES,
    _links: [{ rel: 'page.report', href: `${address}/diamond/${row.id}` }],
  }
}

const shown = (text: 'short' | 'title', dictionary: DictionaryName, id: number | null) =>
  id === null ? null : DICTIONARIES[dictionary][text](id)
