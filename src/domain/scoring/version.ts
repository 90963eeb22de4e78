import traced from './traced-cuts.json' with { type: 'json' }

/** Of the model: major when scores change their meaning, minor when they move by more than their d, else patch. */
const MODEL = '4.0.0'

/** The version of every score that rests on the tracer: the model's, and as build metadata the table's digest. */
export const OPTICS_VERSION = `${MODEL}+${traced.hash}`

/** Fluorescence comes from the report alone. */
export const FLUOR_VERSION = '1.0.0'

/**
 * True where a version comes after another one, by major, minor and patch. Build metadata has no order
 * (semver.org, 2.0.0, rule 10): tables of the same model are of the same age.
 */
export function isNewer(version: string, than: string): boolean {
  const [ours, theirs] = [numbersOf(than), numbersOf(version)]
  const differs = theirs.findIndex((number, index) => number !== ours[index])
  return differs >= 0 && (theirs[differs] ?? 0) > (ours[differs] ?? 0)
}

const numbersOf = (version: string): number[] => (version.split('+', 1)[0] ?? '').split('.').map(Number)
