/** What stands between two words of a scale: `VG-EX`, `Thin – Thick`, `EX/VG`, `U to V`. */
const BETWEEN = /\s*[-–—/]\s*|\s+(?:to|bis|à)\s+/iu

/** The two texts that a text joins; undefined for one that joins none, or more. */
export function twoIn(text: string): readonly [from: string, to: string] | undefined {
  const [from = '', to = '', ...others] = text.split(BETWEEN)
  return from === '' || to === '' || others.length > 0 ? undefined : [from, to]
}
