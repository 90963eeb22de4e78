import { InvalidArgumentError } from 'commander'
import { edits } from '../../domain/dictionaries/nearest.ts'
import { schemas } from '../../events/registry.ts'

/** How many names are proposed for one that is none. */
const NEAR = 3

/**
 * Reads one more value of an option that takes types of events.
 * @throws InvalidArgumentError for a type that this release does not know, naming those that are near
 */
export function readType(text: string, before: readonly string[] = []): string[] {
  if (Object.hasOwn(schemas, text)) return [...before, text]
  const near = nearTypes(text).join(', ')
  throw new InvalidArgumentError(`There is no event of this type. Near to it: ${near}. \`events --schema\` names all.`)
}

/** The known types that a name is nearest to: those that have it, or that it has, as a part come first. */
function nearTypes(name: string): string[] {
  const small = name.slice(0, LONGEST).toLowerCase()
  const distance = (type: string) => {
    const other = type.toLowerCase()
    return other.includes(small) || small.includes(other) ? 0 : edits(small, other)
  }
  return Object.keys(schemas)
    .map((type) => ({ type, distance: distance(type) }))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, NEAR)
    .map(({ type }) => type)
}

/** Characters of a name that are looked at: the work grows with them. */
const LONGEST = 64
