import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { UNIQUE } from './load/measure.ts'

/** A stone as request JSON. */
export type StoneJson = Readonly<Record<string, unknown>>

const FILE = new URL('../data/diamonds.csv.gz', import.meta.url)
const CUTS: Readonly<Record<string, string>> = { Premium: 'Excellent' }
const GIRDLES = ['Thin-Medium', 'Medium', 'Slightly Thick', 'Medium-Thick']
const INTENSITIES = ['None', 'Faint', 'Medium', 'Strong']

/** Real stones of the bundled data set in v4 form, each with a unique sku. */
export function stones(count: number): StoneJson[] {
  const lines = gunzipSync(readFileSync(FILE)).toString().trim().split('\n').slice(1)
  return lines.slice(0, count).map(toStone)
}

function toStone(line: string, index: number): StoneJson {
  const [carat, cut = '', color, clarity, , , price] = line.replaceAll('"', '').split(',')
  const grade = CUTS[cut] ?? cut
  return {
    sku: `B-${UNIQUE}-${index}`,
    price: Number(price),
    isColored: index % 10 === 0,
    isLabGrown: false,
    cutShape: 'Round',
    carat: Number(carat),
    clarity,
    color,
    cutQuality: grade,
    polish: 'Excellent',
    symmetry: 'Very Good',
    fluorIntensity: INTENSITIES[index % INTENSITIES.length],
    fluorColor: index % INTENSITIES.length === 0 ? null : 'Blue',
    culetSize: 'None',
    girdle: GIRDLES[index % GIRDLES.length],
    access: 1,
    dataAccess: 1,
  }
}
