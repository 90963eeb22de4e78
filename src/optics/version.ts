import traced from './traced-cuts.json' with { type: 'json' }

/** Model version. Major: scores change their meaning; minor: scores change by more than their d; patch: otherwise. */
const MODEL = '4.0.2'

/** The version of all scores computed by ray tracing: the model version, with the hash of the table as build metadata. */
export const OPTICS_VERSION = `${MODEL}+${traced.hash}`

/**
 * Whether a version is newer than another one, by major, minor and patch. Build metadata is ignored (semver.org, 2.0.0,
 * rule 10), so tables of the same model are equally new.
 */
export function isNewer(version: string, other: string): boolean {
  const [otherNumbers, numbers] = [numbersOf(other), numbersOf(version)]
  const firstDifference = numbers.findIndex((number, index) => number !== otherNumbers[index])
  return firstDifference >= 0 && (numbers[firstDifference] ?? 0) > (otherNumbers[firstDifference] ?? 0)
}

const numbersOf = (version: string): number[] => (version.split('+', 1)[0] ?? '').split('.').map(Number)
