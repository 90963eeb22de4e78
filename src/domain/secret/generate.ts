/** One of each class is in every generated secret; look-alikes (i, l, o, 1, I, O, 0) are in none. */
const CLASSES = ['abcdefghjkmnpqrstuvwxyz', 'ABCDEFGHJKLMNPQRSTUVWXYZ', '23456789', '*$!?()@#%+=-_']
const ALL = CLASSES.join('')
const LENGTH = 12

/**
 * 12 characters that can be read aloud.
 * @param below a random integer from 0 to under its argument, of a CSPRNG and without bias
 */
export function generated(below: (limit: number) => number): string {
  const pick = (characters: string) => characters.charAt(below(characters.length))
  const drawn = [...CLASSES.map(pick), ...Array.from({ length: LENGTH - CLASSES.length }, () => pick(ALL))]
  for (let last = drawn.length - 1; last > 0; last--) {
    const other = below(last + 1)
    const kept = drawn[last] ?? ''
    drawn[last] = drawn[other] ?? ''
    drawn[other] = kept
  }
  return drawn.join('')
}
