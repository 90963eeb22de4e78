const VALUES: Record<string, string[]> = {
  cutShape: ['Round', 'Princess', 'Cushion', 'Oval', 'Marquise', 'Pear', 'Radiant', 'Emerald', 'Asscher', 'Heart'],
  clarity: ['FL', 'IF', 'VVS1', 'VVS2', 'VS1', 'VS2', 'SI1', 'SI2', 'I1'],
  color: [...'DEFGHIJKLMNOPQRSTUVWXYZ'],
  cutQuality: ['Excellent', 'Very Good', 'Good', 'Fair', 'Poor', 'Ideal'],
  polish: ['Excellent', 'Very Good', 'Good', 'Fair', 'Poor', 'Ideal'],
  symmetry: ['Excellent', 'Very Good', 'Good', 'Fair', 'Poor', 'Ideal'],
  fluorIntensity: ['NON', 'FNT', 'MED', 'STG', 'VST'],
  fluorColor: ['N', 'B', 'W', 'Y', 'O', 'R', 'G'],
  fancyGrade: ['Faint', 'Very Light', 'Light', 'Fancy'],
  colorHue: ['Yellow', 'Red', 'Blue'],
  colorModifier: ['Brownish', 'Gray'],
}
const ids = new Map(Object.entries(VALUES).map(([name, values]) => [name, new Map(values.map((v, i) => [v, i + 1]))]))
const lower = new Map(
  Object.entries(VALUES).map(([name, values]) => [name, new Map(values.map((v, i) => [v.toLowerCase(), i + 1]))]),
)
const texts = new Map(Object.entries(VALUES).map(([name, values]) => [name, new Map(values.map((v, i) => [i + 1, v]))]))
export const parseEntry = (dictionary: string, text: string) =>
  ids.get(dictionary)?.get(text) ?? lower.get(dictionary)?.get(text.trim().toLowerCase())
export const shown = (dictionary: string, id: number | string | null) =>
  typeof id === 'number' ? (texts.get(dictionary)?.get(id) ?? null) : id
