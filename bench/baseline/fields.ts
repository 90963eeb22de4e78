export type DiamondFields = {
  readonly sku: string
  readonly price: number | null
  readonly isColored: boolean
  readonly isLabGrown: boolean
  readonly cutShape: number | string
  readonly carat: number
  readonly clarity: number | null
  readonly color: number | null
  readonly cutQuality: number | null
  readonly polish: number | null
  readonly symmetry: number | null
  readonly fluorIntensity: number | null
  readonly fluorColor: number | null
  readonly fancyGrade: number | null
  readonly colorHue: number | null
  readonly colorModifier: number | null
  readonly culetSize: string | null
  readonly girdle: string | null
  readonly access: number
  readonly dataAccess: number
}

export const DEFAULTS = {
  price: null,
  isColored: false,
  isLabGrown: false,
  clarity: null,
  color: null,
  cutQuality: null,
  polish: null,
  symmetry: null,
  fluorIntensity: null,
  fluorColor: null,
  fancyGrade: null,
  colorHue: null,
  colorModifier: null,
  culetSize: null,
  girdle: null,
  access: 0,
  dataAccess: 0,
} as const
