import { createHash } from 'node:crypto'
import type { LiveDiamond } from '../../domain/diamond/diamond.ts'
import type { StoneModel } from '../../domain/diamond/stone-model.ts'
import type { Basis } from '../../domain/diamond/score-basis.ts'
import { stoneOf } from '../../domain/diamond/scored-stone.ts'
import { cutKey, type Cut } from '../../domain/scoring/cut/cut.ts'
import { possibleCut } from '../../domain/scoring/cut/possible.ts'
import { cutOf } from '../../domain/scoring/cut/stone.ts'
import type { Lighting } from '../../domain/scoring/picture/lighting.ts'
import { OPTICS_VERSION } from '../../domain/scoring/version.ts'

/** A cut, or a stone's own body by the digest of its 3D file. */
export type Shown = { readonly cut: Cut } | { readonly model: string }

/** @throws ImpossibleProportions or UntraceableCut, by name, where there can be no picture */
export type Draw = (order: {
  readonly shown: Shown
  readonly lighting: Lighting
  readonly size: number
}) => Promise<Uint8Array>

export type Picture = { readonly etag: string; png(): Promise<Uint8Array | undefined> }

/** Pixels of the longer side. */
const SIZE = 320
/** What is thrown over what can't be drawn, now or later. */
const NO_PICTURE: ReadonlySet<string> = new Set(['ImpossibleProportions', 'UntraceableCut'])

/** Pictures kept at most, some 100 KB each. */
const KEPT = 200

/**
 * What pictures show: a stone's own body, and proportions that a report measured, are design data, so that they are drawn
 * only where the owner shows all, as far as a stone can have them; else the ones that a stone of its grade has. null where
 * its shape has no model.
 */
export function shownOf(diamond: LiveDiamond): Shown | null {
  if (isOwnShown(diamond)) return { model: diamond.model.file.digest }
  const cut = shownCut(diamond)
  return cut && { cut }
}

const isOwnShown = (diamond: LiveDiamond): diamond is LiveDiamond & { readonly model: StoneModel } =>
  diamond.fields.dataAccess === 2 && diamond.model !== undefined

function shownCut(diamond: LiveDiamond): Cut | null {
  const { measured, ...nominal } = stoneOf(diamond)
  const cut = cutOf(diamond.fields.dataAccess === 2 && measured !== undefined ? { ...nominal, measured } : nominal)
  return cut && possibleCut(cut)
}

/** What the pictures are of, which may be less than what the scores rest on. */
export function shownBasis(diamond: LiveDiamond): Basis {
  if (isOwnShown(diamond)) return 'facets'
  if (shownCut(diamond)?.measured !== undefined) return 'measurements'
  return stoneOf(diamond).cutGrade === undefined ? 'shape' : 'grade'
}

/** Pictures of stones, each drawn once and kept. */
export class Pictures {
  readonly #kept = new Map<string, Promise<Uint8Array | undefined>>()

  constructor(private readonly draw: Draw) {}

  of(shown: Shown, lighting: Lighting): Picture {
    const what = 'cut' in shown ? cutKey(shown.cut) : `model ${shown.model}`
    const key = [OPTICS_VERSION, lighting, SIZE, what].join('/')
    const etag = `"${createHash('sha256').update(key).digest('base64url').slice(0, 22)}"`
    return { etag, png: () => this.#kept.get(key) ?? this.#drawn(key, shown, lighting) }
  }

  #drawn(key: string, shown: Shown, lighting: Lighting): Promise<Uint8Array | undefined> {
    const drawing = this.draw({ shown, lighting, size: SIZE }).catch((error: unknown) => {
      if (error instanceof Error && NO_PICTURE.has(error.name)) return undefined
      this.#kept.delete(key)
      throw error
    })
    const [oldest] = this.#kept.keys()
    if (this.#kept.size >= KEPT && oldest !== undefined) this.#kept.delete(oldest)
    this.#kept.set(key, drawing)
    return drawing
  }
}
