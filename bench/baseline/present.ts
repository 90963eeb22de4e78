import { shown } from './dictionaries.ts'
import type { Row } from './stones.ts'

const SCORES = { integral: null, spread: null, fire: null, brilliance: null, fluor: null, symmetry: null }

/** A row as the v4 API shows it. */
export function present(row: Row, address: string): Record<string, unknown> {
  return {
    id: row.id,
    sku: row.sku,
    price: row.price,
    isColored: row.isColored === 1,
    isLabGrown: row.isLabGrown === 1,
    cutShape: shown('cutShape', row.cutShape),
    carat: row.carat,
    clarity: shown('clarity', row.clarity),
    color: shown('color', row.color),
    cutQuality: shown('cutQuality', row.cutQuality),
    polish: shown('polish', row.polish),
    symmetry: shown('symmetry', row.symmetry),
    fluorIntensity: shown('fluorIntensity', row.fluorIntensity),
    fluorColor: shown('fluorColor', row.fluorColor),
    fancyGrade: shown('fancyGrade', row.fancyGrade),
    colorHue: shown('colorHue', row.colorHue),
    colorModifier: shown('colorModifier', row.colorModifier),
    culetSize: row.culetSize,
    girdle: row.girdle,
    date: `${new Date(row.date * 1000).toISOString().slice(0, 19)}+00:00`,
    access: row.access,
    dataAccess: row.dataAccess,
    certifications: [],
    scores: SCORES,
    _links: [{ rel: 'page.report', href: `${address}/diamond/${row.id}` }],
  }
}
