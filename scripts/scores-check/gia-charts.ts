/**
 * Cut grades of round brilliants by table, pavilion angle and crown angle, estimated by the GIA (2006, diamondcut.gia.edu/charts) for a star
 * length of 55 %, lower halves of 80 %, a girdle of 3.0 %, no or a small culet and a finish of Very Good or better. One chart per table
 * percentage. Lines: pavilion angles from 38.8° to 43.0° in steps of 0.2°. Letters: crown angles from 22.0° to 40.0° in steps of 0.5°;
 * Excellent, Very good, Good, Fair, Poor.
 */
export const charts: Readonly<Record<number, string>> = {
  50: `
fffffffffffffffffffffffffgggggggffffp
ffffffffffffffffffffffffggggggggffffp
ffffffffffffffffffffffggggggggggffffp
fffffffffffffffffffffgggggggggggffffp
ffffffffffffffffffffggggggggggggffffp
fffffffffffffffffffggggggggvvgggffffp
ffffffffffffffffffggggggvvvvvgggffffp
fffffffffffffffffgggggvvvvvvvgggffffp
fffffffffffffffggggggvvvvvvvvgggffffp
fffffffffffffggggggvvvvvvvvvvgggffffp
fffffffffffgggggvvvvvvvvvvvvvgggffffp
ffffffffffgggggvvvvvvvvvvvvvvgggffffp
ggggggggggggvvvvvvvvvvvvvvvvggggffffp
gggggggggggvvvvvvvvvvvvvvvvgggggffffp
gggggggggvvvvvvvvvvvvvvvvvggggggffffp
gggggggggvvvvvvvvvvvvvvvvggggggfffffp
gggggggggvvvvvvvvvvvvvvvggggggffffffp
gggggggggvvvvvvvvvvvvvvggggggfffffffp
gggggggggvvvvvvvvvvvvvggggggffffffffp
gggggggggggggggggggggggggggfffffffffp
ggggggggggggggggggggggggggffffffffffp
gggggggggggggggggggggggggfffffffffffp
`,
  53: `
fffffffffffffffffffffffffggggggggggff
ffffffffffffffffffffffffgggggggggggff
ffffffffffffffffffffffgggggggggggggff
fffffffffffffffffffffggggggggggggggff
ffffffffffffffffffffgggggggggggggggff
fffffffffffffffffffggggggggvvvvvgggff
ffffffffffffffffffggggggvvvvvvvvgggff
fffffffffffffffffgggggggvvvvvvvvgggff
ffffffffffffffggggggggvvvvvvvvvvgggff
fffffffffffggggggggvvvvveeeeevvvgggff
fffffffggggggggggvvvvvveeeeeevvvgggff
ffffggggggggggvvvvvveeeeeeeevvvvgggff
gggggggggggvvvvvvvveeeeeeeevvvvggggff
gggggggggvvvvvvvvvveeeeeeevvvvgggggff
gggggggggvvvvvvvvvveeeeeevvvvggggggff
gggggggggvvvvvvvvvveeeeevvvvgggggggff
gggggggggvvvvvvvvvvvvvvvvvvgggggggfff
gggggggggvvvvvvvvvvvvvvvvvgggggggffff
gggggggggvvvvvvvvvvvvvvvvggggggggffff
gggggggggggggggggggggggggggggggffffff
ggggggggggggggggggggggggggggggfffffff
gggggggggggggggggggggggggggggffffffff
`,
  56: `
fffffffffffffffffffffffffgggggggggggg
ffffffffffffffffffffffffggggggggggggg
ffffffffffffffffffffffggggggggggggggg
fffffffffffffffffffffgggggggggggggggg
ffffffffffffffffffffggggggggggggggggg
fffffffffffffffffffggggggggvvvvvvvggg
ffffffffffffffffffggggggggvvvvvvvvggg
fffffffffffffffffgggggggvvvvvvvvvvggg
ffffffffffffffggggggggvvvvvvvvvvvvggg
fffffffffffgggggggggvvvveeeeevvvvvggg
fffffffggggggggggvvvvvveeeeeeevvvvggg
ffffggggggggggvvvvvveeeeeeeeeevvvgggg
gggggggggggvvvvvvvveeeeeeeeeeevvvgggg
gggggggggvvvvvvvvvveeeeeeeeeevvvggggg
gggggggggvvvvvvvvvveeeeeeeevvvvvggggg
gggggggggvvvvvvvvvveeeeeeevvvvvvggggg
gggggggggvvvvvvvvvvvvvvvvvvvvvvgggggg
gggggggggvvvvvvvvvvvvvvvvvvvvvgggggff
gggggggggvvvvvvvvvvvvvvvvvvvggggggfff
ggggggggggggggggggggggggggggggggggfff
gggggggggggggggggggggggggggggggggffff
ggggggggggggggggggggggggggggggggfffff
`,
  59: `
fffffffffffffffffffffffffgggggggggggg
ffffffffffffffffffffffffggggggggggggg
ffffffffffffffffffffffggggggggggggggg
fffffffffffffffffffffgggggggggggggggg
ffffffffffffffffffffggggggggggggggggg
fffffffffffffffffffgggggggggggggggggg
ffffffffffffffffffggggggggvvvvvvvgggg
fffffffffffffffffgggggggvvvvvvvvvgggg
ffffffffffffffggggggggvvvvvvvvvvggggg
fffffffffffgggggggggvvvveeeevvvvggggg
fffffffgggggggggggvvvvveeeeeevvvggggg
ffffgggggggggggvvvvveeeeeeeeevvgggggg
fffggggggggvvvvvvvveeeeeeeeevvvgggggg
fffgggggggvvvvvvvvveeeeeeeevvvggggggg
fffgggggggvvvvvvvvveeeeeevvvvvggggggg
fffgggggggvvvvvvvvveeeeevvvvvgggggggg
fffgggggggvvvvvvvvvvvvvvvvvvvgggggggg
fffgggggggvvvvvvvvvvvvvvvvvvggggggggg
fffggggggggggggvvvvvvvvvvvvgggggggggg
fffgggggggggggggggggggggggggggggggggf
fffgggggggggggggggggggggggggggggggfff
fffggggggggggggggggggggggggggggffffff
`,
  62: `
ppfffffffffffffffffffffffffffffffffff
fffffffffffffffffffffffffffffffffffff
ffffffffffffffffffffffggggggggggfgggg
fffffffffffffffffffffgggggggggggggggg
ffffffffffffffffffffggggggggggggggggg
fffffffffffffffffffgggggggggggggggggg
ffffffffffffffffffggggggggggggggggggg
fffffffffffffffffgggggggggggggggggggg
ffffffffffffffgggggggggvvgggggggggggg
fffffffffffggggggggggvvvvvvvvvggggggg
fffffffggggggggggggvvvvvvvvvvvggggggg
ffffffgggggggggvvvvvvveeeeevvgggggggg
ffffffgggggggvvvvvvvvveeeeevvgggggggg
ffffffgggggggvvvvvvvvveeeevvggggggggg
ffffffgggggggvvvvvvvvveevvvvggggggggg
ffffffgggggggvvvvvvvvvvvvvvgggggggggg
ffffffgggggggvvvvvvvvvvvvvvgggggggggg
ffffffgggggggvvvvvvvvvvvvvvgggggggggg
ffffffggggggggggggggggggggggggggggggg
ffffffggggggggggggggggggggggggggggggg
ffffffgggggggggggggggggggggggggggggff
ffffffgggggggggggggggggggggggggggffff
`,
  65: `
pppppffffffffffffffffffffffffffffffff
ppppfffffffffffffffffffffffffffffffff
ppfffffffffffffffffffffffffffffffffff
pffffffffffffffffffffffffffffffffffff
ffffffffffffffffffffggggggggggggggggg
fffffffffffffffffffgggggggggggggggggg
ffffffffffffffffffffggggggggggggggggg
fffffffffffffffffgggggggggggggggggggg
ffffffffffffffggggggggggggggggggggggg
fffffffffffgggggggggggggggggggggggggg
ffffffffffggggggggggggggggggggggggggg
ffffffffffgggggggvvvvvvvvvvgggggggggg
ffffffffffgggggggvvvvvvvvvvgggggggggg
ffffffffffgggggggvvvvvvvvvggggggggggg
ffffffffffgggggggvvvvvvvvvggggggggggg
ffffffffffgggggggvvvvvvvvvggggggggggg
ffffffffffgggggggvvvvvvvvgggggggggggg
ffffffffffggggggggggggggggggggggggggg
ffffffffffggggggggggggggggggggggggggg
ffffffffffggggggggggggggggggggggggggg
ffffffffffggggggggggggggggggggffggggg
ffffffffffgggggggggggggggggfffffgggff
`,
}

export type GiaGrade = 'e' | 'v' | 'g' | 'f' | 'p'

/** The charts used for calibration; the others are used for checks. */
const CALIBRATION_TABLES = [50, 56, 62] as const

/** Table in percent of the diameter, angles in degrees. */
export type RoundDesign = { readonly table: number; readonly crown: number; readonly pavilion: number }

/** Whether a round is beyond the limits of Fair: table 44 to 72 %, crown 20° to 41.5°, pavilion 37.4° to 44° (GIA, "Estimating a Cut Grade"). */
export const isBeyondFair = ({ table, crown, pavilion }: RoundDesign): boolean =>
  table < 44 || table > 72 || crown < 20 || crown > 41.5 || pavilion < 37.4 || pavilion > 44

/**
 * The GIA's estimated cut grade of a round: that of the nearest cell on the nearest calibration chart; Poor beyond the limits of Fair; Fair
 * between these limits and the edge of the charts.
 */
export function giaGradeOf({ table, crown, pavilion }: RoundDesign): GiaGrade {
  if (isBeyondFair({ table, crown, pavilion })) return 'p'
  const [row, column] = [Math.round((pavilion - 38.8) * 5), Math.round((crown - 22) * 2)]
  const [nearest = 56] = CALIBRATION_TABLES.toSorted((a, b) => Math.abs(a - table) - Math.abs(b - table))
  const letter = charts[nearest]?.trim().split('\n')[row]?.[column]
  return (letter as GiaGrade | undefined) ?? 'f'
}
