import { createHash } from 'node:crypto'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { Basis } from '../../domain/diamond/score-basis.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import { cutKey, type Cut } from '../../domain/scoring/cut/cut.ts'
import { possibleCut } from '../../domain/scoring/cut/possible.ts'
import { cutOf } from '../../domain/scoring/cut/stone.ts'
import type { Lighting } from '../../domain/scoring/picture/lighting.ts'
import { OPTICS_VERSION } from '../../domain/scoring/version.ts'

/** @throws ImpossibleProportions, by name, where no stone can have the cut */
export type Draw = (order: {
  readonly cut: Cut
  readonly lighting: Lighting
  readonly size: number
}) => Promise<Uint8Array>

export type Picture = { readonly etag: string; png(): Promise<Uint8Array | undefined> }

/** Pixels of the longer side. */
const SIZE = 320
/** Pictures kept at most, some 100 KB each. */
const KEPT = 200

/**
 * The cut that pictures show: proportions that a report measured are design data, so that they are drawn only where the
 * owner shows all, as far as a stone can have them; else the ones that a stone of its grade has. null where its shape has
 * no model.
 */
export function shownCut(diamond: LiveDiamond): Cut | null {
  const { measured, ...nominal } = stoneOf(diamond)
  const cut = cutOf(diamond.fields.dataAccess === 2 && measured !== undefined ? { ...nominal, measured } : nominal)
  return cut && possibleCut(cut)
}

/** What the pictures are of, which may be less than what the scores rest on. */
export function shownBasis(diamond: LiveDiamond): Basis {
  if (shownCut(diamond)?.measured !== undefined) return 'measurements'
  return stoneOf(diamond).cutGrade === undefined ? 'shape' : 'grade'
}

/** Pictures of cuts, each drawn once and kept. */
export class Pictures {
  readonly #kept = new Map<string, Promise<Uint8Array | undefined>>()

  constructor(private readonly draw: Draw) {}

  of(cut: Cut, lighting: Lighting): Picture {
    const key = [OPTICS_VERSION, lighting, SIZE, cutKey(cut)].join('/')
    const etag = `"${createHash('sha256').update(key).digest('base64url').slice(0, 22)}"`
    return { etag, png: () => this.#kept.get(key) ?? this.#drawn(key, cut, lighting) }
  }

  #drawn(key: string, cut: Cut, lighting: Lighting): Promise<Uint8Array | undefined> {
    const drawing = this.draw({ cut, lighting, size: SIZE }).catch((error: unknown) => {
      if (error instanceof Error && error.name === 'ImpossibleProportions') return undefined
      this.#kept.delete(key)
      throw error
    })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(key, drawing)
    return drawing
  }
}
