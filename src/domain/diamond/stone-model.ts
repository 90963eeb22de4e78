import type { DiamondFields } from './fields.ts'

/** The 3D files that are read. */
export const MODEL_FORMATS = ['OFF', 'STL', 'OBJ'] as const

export type ModelFormat = (typeof MODEL_FORMATS)[number]

/** What a 3D file says of its stone's body. */
export type StoneShape = {
  readonly format: ModelFormat
  /** As the file has them, triangles or polygons. */
  readonly facets: number
  /** How many planes light is traced from, and within how many degrees neighbouring facets were taken for one. */
  readonly planes: { readonly count: number; readonly within: number }
  /** By its volume in cubic millimetres. */
  readonly carat: number
  /** Millimetres from above, the longer side first, and from table to culet. */
  readonly measurements: { readonly length: number; readonly width: number; readonly depth: number }
}

/** A stone's own body, as a scanner measured it. The file's bytes are with the Files port, under their digest. */
export type StoneModel = StoneShape & {
  readonly file: {
    /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
    readonly digest: string
    readonly bytes: number
  }
}

export type StoneModelAttached = { readonly type: 'StoneModelAttached'; readonly data: StoneModel }

export type StoneModelRemoved = {
  readonly type: 'StoneModelRemoved'
  /** digest: of its file, which is collected when nothing else uses it. */
  readonly data: { readonly digest: string }
}

export type StoneModelEvent = StoneModelAttached | StoneModelRemoved

export const removedModel = ({ file: { digest } }: StoneModel): StoneModelRemoved => ({
  type: 'StoneModelRemoved',
  data: { digest },
})

/** Share of the weight by which a body's volume may differ from it, and what binary adds. */
const CARAT_TOLERANCE = 0.02 + 1e-9

/** Degrees between triangles of one facet that coordinates with few decimals make. */
const FLAT = 0.05

/** What of a body does not fit its stone, as people read it, a sentence each. */
export function modelWarnings({ carat, planes }: StoneShape, fields: Pick<DiamondFields, 'carat'>): string[] {
  const warnings: string[] = []
  if (Math.abs(carat - fields.carat) > CARAT_TOLERANCE * fields.carat)
    warnings.push(`The model's volume is that of a diamond of ${carat} carats, not of ${fields.carat}`)
  if (planes.within > FLAT)
    warnings.push(
      `Light is traced from ${planes.count} planes: the model has more, so neighbours within ${planes.within}° were taken for one`,
    )
  return warnings
}
